#pragma once
// `agent_resources` are the resources of `cellgate mcp`, which a user of the agent's program can attach: the variables
// of the agent's sessions, the files that its executions changed, and how many of its actions wait for a user.

#include "mcp/server.hpp"
#include "sidecar_client.hpp"

#include <vector>

namespace cellgate::agent {

// `sidecar` must outlive them.
std::vector<mcp::Resource> agent_resources(SidecarClient& sidecar);

} // namespace cellgate::agent
