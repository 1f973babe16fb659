#pragma once
// `HostTools` is the built-in tool server `host`, which always runs: it reads and writes files of the workspace and
// runs commands, outside every sandbox and therefore within narrow bounds; it saves tools (saved_tools.hpp). Paths
// are resolved by the kernel beneath the workspace (openat2); what is judged is the file that was really opened, not
// the name that led there. Secrets are not read, and what a program would run or obey later is not written
// (sandbox/protected_files.hpp). Whether an action may happen is the gate's business: only the dispatcher calls
// this. Blocking work goes off the loop.

#include "async/loop.hpp"
#include "base/environment.hpp"
#include "saved_tools.hpp"
#include "tool_server.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::tools {

class HostTools final : public ToolServer {
  public:
    static const std::string& identity();

    // `workspace`: a canonical path. `environment`: this process's. `saved` stays as long as this.
    HostTools(async::Loop& loop, std::string workspace, const Environment& environment, SavedTools& saved);

    bool is_usable() const override { return true; }
    const std::vector<ToolPtr>& tools() const override { return tools_; }
    Task<void> refresh() override;
    // What is saved as a tool has its rules in words.
    Task<std::pair<ToolPtr, RawJson>> resolve(ToolPtr tool, RawJson arguments) override;
    Task<void> check(ToolPtr tool, RawJson arguments) override;
    // A program without a slash is looked for in PATH outside the workspace only: code writes there.
    gate::Action action_of(const Tool& tool, RawJson arguments) const override;
    // What fails in the world is a result with is_error; what is refused is Error{denied}.
    Task<std::optional<protocol::CallToolResult>> call(ToolPtr tool, gate::Action allowed, CallContext context,
                                                       std::shared_ptr<mcp::CallFollower> follower) override;
    Task<void> stop(std::string reason) override;

  private:
    Task<protocol::CallToolResult> save_tool(SaveToolParams params, CallContext context);
    Task<protocol::CallToolResult> remove_tool(std::string name);
    protocol::CallToolResult work_on_file(const std::string& tool, const RawJson& arguments) const;
    Task<protocol::CallToolResult> run(std::vector<std::string> argv, std::string cwd,
                                       std::optional<double> timeout_seconds);

    async::Loop& loop_;
    std::string workspace_;
    Environment environment_;
    SavedTools& saved_;
    std::vector<ToolPtr> tools_;
};

} // namespace cellgate::tools
