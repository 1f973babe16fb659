#pragma once
// `SavedToolRuns` runs the code of saved tools: each in a session of its own, which is closed with the call. The run of
// an agent's call is the agent's.

#include "agent_limits.hpp"
#include "result_review.hpp"
#include "session_table.hpp"
#include "tools/saved_tool.hpp"
#include "workspace.hpp"

#include <memory>
#include <set>
#include <string>

namespace cellgate::service {

class SavedToolRuns final : public tools::SavedToolRunner {
  public:
    // All must outlive it; the sessions may be made later.
    SavedToolRuns(async::Loop& loop, const Workspace& workspace, const AgentLimits& limits, SessionTable& sessions,
                  ResultReview& review)
        : loop_(loop), workspace_(workspace), limits_(limits), sessions_(sessions), review_(review) {}

    Task<tools::SavedToolRun> run(tools::SavedToolCode code, std::optional<RawJson> arguments,
                                  tools::CallContext context) override;
    bool is_run(const std::string& session_id) const override { return sessions_of_runs_.contains(session_id); }

  private:
    session::SessionOptions options_for(const tools::SavedToolCode& code, const tools::CallContext& context) const;
    protocol::ExecuteParams params_for(std::string code, const tools::CallContext& context) const;
    Task<tools::SavedToolRun> run_in(SessionTable::SessionPtr session, tools::SavedToolCode code,
                                     std::optional<RawJson> arguments, tools::CallContext context);
    Task<void> close(std::string session_id);

    async::Loop& loop_;
    const Workspace& workspace_;
    const AgentLimits& limits_;
    SessionTable& sessions_;
    ResultReview& review_;
    std::set<std::string> sessions_of_runs_;
};

} // namespace cellgate::service
