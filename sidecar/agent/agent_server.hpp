#pragma once
// `AgentServer` is the MCP server for one agent, with its own connection to the workspace's sidecar.

#include "agent/serve_agent.hpp"
#include "agent/tool_set.hpp"
#include "base/environment.hpp"
#include "mcp/server.hpp"
#include "python_sandbox_settings.hpp"
#include "sandboxmcp_settings.hpp"
#include "sidecar_client.hpp"

#include <memory>

namespace cellgate::agent {

// What all agents of this process have alike.
struct AgentSettings {
    daemon::WorkspaceSidecarOptions sidecar;
    ToolSet tools;
    Environment kernel_environment;
    PythonSandboxSettings python_sandbox; // for its tools alone
    SandboxmcpSettings sandboxmcp;        // for its tools alone
};

// `environment`, of this process, has the settings of the chosen tools and what is meant for the kernel. Throws
// Error{config_invalid} for settings that cannot be read.
AgentSettings read_agent_settings(AgentOptions options, const Environment& environment);

class AgentServer {
  public:
    AgentServer(async::Loop* loop, std::shared_ptr<protocol::Connection> connection, const AgentSettings& settings);

    mcp::Server& server() { return server_; }
    const mcp::Server& server() const { return server_; }
    // Until its client has gone.
    Task<void> run();

  private:
    SidecarClient sidecar_;
    mcp::Server server_;
};

} // namespace cellgate::agent
