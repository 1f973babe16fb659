#pragma once
// `FollowedCall` follows one call of a tool on behalf of those who wait for it: it reports how far the call is, and
// asks the users what its server asks. What it does not ask, it declines, and keeps why.

#include "base/clock.hpp"
#include "mcp/call_follower.hpp"
#include "progress_reports.hpp"
#include "tools/call_context.hpp"
#include "tools/elicitor.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::tools {

class FollowedCall final : public mcp::CallFollower {
  public:
    // `elicitor` is nullptr where there are no users; it and `clock` outlive the call.
    FollowedCall(Clock& clock, Elicitor* elicitor, CallContext context, std::string server, std::string tool);

    void set_trace_parent(std::string parent) { trace_parent_ = std::move(parent); }
    std::string trace_parent() const override { return trace_parent_; }
    bool wants_progress() const override { return bool(context_.on_progress); }
    void on_progress(const mcp::CallProgress& progress) override;
    Task<mcp::ElicitationAnswer> ask(mcp::ElicitationQuestion question) override;
    void on_not_asked(const std::string& why) override;

    // The call has ended: nothing is reported any more.
    void end() { reports_.reset(); }
    // Why questions were declined that no user saw, escaped; each reason once.
    const std::vector<std::string>& declined() const { return declined_; }

  private:
    protocol::Elicitation question_of(const mcp::ElicitationQuestion& asked) const;

    Elicitor* elicitor_;
    CallContext context_;
    std::string server_;
    std::string tool_;
    std::string trace_parent_;
    std::optional<ProgressReports> reports_;
    std::vector<std::string> declined_;
};

} // namespace cellgate::tools
