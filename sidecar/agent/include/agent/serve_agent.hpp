#pragma once
// `serve_agent` is `cellgate mcp`: an MCP server over stdin and stdout, through which an agent uses the workspace's
// sidecar. It connects at the first tool call, since clients also start servers only to list their tools.

#include "base/environment.hpp"
#include "daemon/connect.hpp"

namespace cellgate::agent {

// Until its client has gone. `environment`, of this process, has the user's limits and what is meant for the kernel.
// Throws Error{config_invalid} for limits that are no numbers.
Task<void> serve_agent(async::Loop* loop, daemon::WorkspaceSidecarOptions options, Environment environment);

} // namespace cellgate::agent
