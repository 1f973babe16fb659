#pragma once
// `ProgressReports` passes on how far one call of a tool is, by the words of its MCP server, in one line, at most five
// times a second; and that the call has ended, if anything was reported before.

#include "base/clock.hpp"
#include "mcp/call_follower.hpp"
#include "tools/call_context.hpp"

#include <optional>
#include <string>

namespace cellgate::tools {

class ProgressReports {
  public:
    ProgressReports(Clock& clock, OnCallProgress report_to, std::string server, std::string tool);
    ProgressReports(const ProgressReports&) = delete;
    ProgressReports& operator=(const ProgressReports&) = delete;
    ~ProgressReports();

    void report(const mcp::CallProgress& progress);
    // Our own words, at once; without words: what they were about is over.
    void note(std::optional<std::string> words);

  private:
    Clock& clock_;
    OnCallProgress report_to_;
    std::string server_;
    std::string tool_;
    std::optional<Instant> last_; // report
};

} // namespace cellgate::tools
