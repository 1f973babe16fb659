#pragma once
// `HostTools` is the built-in tool server `host`: it reads and writes files of the workspace and runs commands, outside
// every sandbox and therefore within narrow bounds. Paths are resolved by the kernel beneath the workspace (openat2);
// what is judged is the file that was really opened, not the name that led there. Secrets are not read, and what a
// program would run or obey later is not written (sandbox/protected_files.hpp). Whether an action may happen is the
// gate's business: only the dispatcher calls this. Blocking work goes off the loop.

#include "async/loop.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "protocol/tool_spec.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::tools {

class HostTools {
  public:
    // `workspace`: a canonical path. `environment`: this process's.
    HostTools(async::Loop& loop, std::string workspace, std::map<std::string, std::string> environment);

    static const std::vector<protocol::ToolSpec>& specs();
    // Throws Error{denied} for what would be refused anyway, so that no user is asked about it.
    Task<void> check(std::string tool, RawJson arguments);
    // What run_command would start, to be shown and then given to call(); nothing for another tool. `arguments` fit the
    // tool's schema. A program without a slash is looked for in PATH outside the workspace only: code writes there.
    std::optional<std::vector<std::string>> command_of(const std::string& tool, const RawJson& arguments) const;
    // What fails in the world is a result with is_error; what is refused is Error{denied}.
    Task<protocol::CallToolResult> call(std::string tool, RawJson arguments,
                                        std::optional<std::vector<std::string>> command);

  private:
    protocol::CallToolResult work_on_file(const std::string& tool, const RawJson& arguments) const;
    Task<protocol::CallToolResult> run(std::vector<std::string> argv, std::string cwd,
                                       std::optional<double> timeout_seconds);

    async::Loop& loop_;
    std::string workspace_;
    std::map<std::string, std::string> environment_;
};

} // namespace cellgate::tools
