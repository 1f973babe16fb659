#include "agent_server.hpp"

#include "base/sync.hpp"
#include "resources.hpp"
#include "tools.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cellgate::agent {

namespace {

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

std::vector<mcp::Tool> own_tools(SidecarClient& sidecar, bool reads_more, bool names_sessions,
                                 std::string_view wrapper_tool) {
    std::vector<mcp::Tool> all = execution_tools(sidecar, reads_more, wrapper_tool);
    for (std::vector<mcp::Tool> family :
         {session_tools(sidecar, names_sessions), check_tools(sidecar), catalogue_tools(sidecar)}) {
        std::move(family.begin(), family.end(), std::back_inserter(all));
    }
    all.push_back(install_tool(sidecar));
    return all;
}

std::vector<mcp::Tool> offered_tools(SidecarClient& sidecar, const AgentSettings& settings) {
    if (settings.tools.family == ToolFamily::python_sandbox) {
        return python_sandbox_tools(sidecar, settings.python_sandbox);
    }
    if (settings.tools.family == ToolFamily::sandboxmcp) {
        return sandboxmcp_tools(sidecar, settings.sandboxmcp);
    }
    const std::vector<std::string_view>& offered = settings.tools.tools;
    const auto is_offered = [&offered](std::string_view name) {
        return offered.empty() || std::find(offered.begin(), offered.end(), name) != offered.end();
    };
    std::vector<mcp::Tool> all =
        own_tools(sidecar, is_offered("read_output"), is_offered("execute"),
                  is_offered("generate_wrappers") ? "generate_wrappers" : "register_mcp_server");
    std::erase_if(all, [&](const mcp::Tool& each) { return !is_offered(each.spec.name); });
    return all;
}

Task<std::unique_ptr<ByteStream>> connect_agent(async::Loop* loop, daemon::WorkspaceSidecarOptions options) {
    co_return co_await daemon::connect_to_workspace(*loop, std::move(options));
}

// Those that imitate another server have its tools and nothing else.
mcp::ServerDescription description(SidecarClient& sidecar, const AgentSettings& settings) {
    const bool is_own = settings.tools.name == default_tool_set || settings.tools.name == "all";
    return {{"cellgate", CELLGATE_VERSION},
            std::string(settings.tools.instructions),
            is_own ? agent_resources(sidecar) : std::vector<mcp::Resource>{}};
}

} // namespace

AgentSettings read_agent_settings(AgentOptions options, const Environment& environment) {
    AgentSettings settings;
    settings.sidecar = std::move(options.sidecar);
    settings.tools = find_tool_set(options.tool_set);
    settings.kernel_environment = kernel_environment(environment);
    if (settings.tools.family == ToolFamily::python_sandbox) {
        settings.python_sandbox = read_python_sandbox_settings(environment);
    } else if (settings.tools.family == ToolFamily::sandboxmcp) {
        settings.sandboxmcp = read_sandboxmcp_settings(environment);
    }
    return settings;
}

AgentServer::AgentServer(async::Loop* loop, std::shared_ptr<protocol::Connection> connection,
                         const AgentSettings& settings)
    : sidecar_(
          loop->clock(), [loop, options = settings.sidecar] { return connect_agent(loop, options); },
          settings.kernel_environment, settings.tools.names),
      server_(std::move(connection), description(sidecar_, settings), offered_tools(sidecar_, settings),
              loop->clock()) {}

Task<void> AgentServer::run() {
    co_await finally(server_.run(), sidecar_.close());
}

} // namespace cellgate::agent
