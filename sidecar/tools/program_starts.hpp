#pragma once
// `ProgramStarts` is the built-in tool server `kernel`, by which a kernel asks before code starts a program
// (kernel/programs.py). Its tool `run_program` does nothing: that the gate allowed the call is the answer, and the
// kernel's sandbox runs the program.

#include "tool_server.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cellgate::tools {

class ProgramStarts final : public ToolServer {
  public:
    explicit ProgramStarts(const std::string& identity);

    bool is_usable() const override { return true; }
    const std::vector<ToolPtr>& tools() const override { return tools_; }
    Task<void> refresh() override;
    Task<void> check(ToolPtr tool, RawJson arguments) override;
    gate::Action action_of(const Tool& tool, RawJson arguments) const override;
    // The kernel starts what it asked about, and nothing else.
    bool may_be_edited() const override { return false; }
    Task<std::optional<protocol::CallToolResult>> call(ToolPtr tool, gate::Action allowed, CallContext context,
                                                       std::shared_ptr<mcp::CallFollower> follower) override;
    Task<void> stop(std::string reason) override;

  private:
    std::vector<ToolPtr> tools_;
};

} // namespace cellgate::tools
