#include "agent_server.hpp"

#include "base/sync.hpp"
#include "tools.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cellgate::agent {

namespace {

constexpr std::string_view instructions =
    "Runs code in a stateful, sandboxed kernel beside the user's editor. Write code that calls tools instead of "
    "calling them one by one: generate_wrappers makes a Python package of an MCP server's tools, search_tools and "
    "describe_tool say what there is, and execute runs the code. What leaves the sandbox may wait for a user's "
    "answer; a denial says why, and asking again the same way will not change it.";

// The variables that the user means for the kernel: KERNEL_ENV_NAME becomes NAME, as ipybox has it.
Environment kernel_environment(const Environment& environment) {
    constexpr std::string_view prefix = "KERNEL_ENV_";
    Environment chosen;
    for (const auto& [name, value] : environment) {
        if (name.starts_with(prefix) && name.size() > prefix.size()) {
            chosen[name.substr(prefix.size())] = value;
        }
    }
    return chosen;
}

std::vector<mcp::Tool> all_tools(SidecarClient& sidecar, const UserLimits& limits) {
    std::vector<mcp::Tool> all = execution_tools(sidecar, limits);
    for (std::vector<mcp::Tool> family : {session_tools(sidecar), check_tools(sidecar), catalogue_tools(sidecar)}) {
        std::move(family.begin(), family.end(), std::back_inserter(all));
    }
    all.push_back(install_tool(sidecar));
    return all;
}

Task<std::unique_ptr<ByteStream>> connect_agent(async::Loop* loop, daemon::WorkspaceSidecarOptions options) {
    co_return co_await daemon::connect_to_workspace(*loop, std::move(options));
}

mcp::ServerDescription description() {
    return {{"cellgate", CELLGATE_VERSION}, std::string(instructions)};
}

} // namespace

AgentSettings read_agent_settings(daemon::WorkspaceSidecarOptions options, const Environment& environment) {
    return {std::move(options), read_user_limits(environment), kernel_environment(environment)};
}

AgentServer::AgentServer(async::Loop* loop, std::shared_ptr<protocol::Connection> connection,
                         const AgentSettings& settings)
    : sidecar_(
          loop->clock(), [loop, options = settings.sidecar] { return connect_agent(loop, options); },
          settings.kernel_environment),
      server_(std::move(connection), description(), all_tools(sidecar_, settings.limits), loop->clock()) {}

Task<void> AgentServer::run() {
    co_await finally(server_.run(), sidecar_.close());
}

} // namespace cellgate::agent
