#pragma once
// `serve_agent` is `cellgate mcp`: an MCP server over stdin and stdout, through which an agent uses the workspace's
// sidecar. It connects at the first tool call, since clients also start servers only to list their tools.

#include "agent/tool_set.hpp"
#include "base/environment.hpp"
#include "daemon/connect.hpp"

#include <string>

namespace cellgate::agent {

struct AgentOptions {
    daemon::WorkspaceSidecarOptions sidecar;
    std::string tool_set = std::string(default_tool_set);
};

// Until its client has gone. `environment`, of this process, has the settings of the chosen tools and what is meant for
// the kernel. Throws Error{config_invalid} for settings that cannot be read.
Task<void> serve_agent(async::Loop* loop, AgentOptions options, Environment environment);

} // namespace cellgate::agent
