#pragma once
// `McpClientConfig` is the entry in the configuration of an MCP client that makes it start `cellgate mcp`.

#include <string>
#include <string_view>
#include <vector>

namespace cellgate::agent {

struct McpClientConfig {
    std::string file; // its destination, as shown to a user
    std::string text;
};

// `client`: one of mcp_clients(). `program`: absolute. `workspace`: absolute; used where the client has no variable for
// it. `tool_set`: that is offered (tool_set.hpp).
McpClientConfig mcp_client_config(std::string_view client, const std::string& program, const std::string& workspace,
                                  std::string_view tool_set);

std::vector<std::string> mcp_clients();

} // namespace cellgate::agent
