#pragma once
// What to write into the configuration of an MCP client so that it starts `cellgate mcp`.

#include <string>
#include <string_view>

namespace cellgate::cli {

struct McpClientConfig {
    std::string file; // where it goes, for a person
    std::string json;
};

// `client`: one of mcp_clients. `program`: absolute. `root`: absolute; used where the client has no variable for it.
McpClientConfig mcp_client_config(std::string_view client, const std::string& program, const std::string& root);

inline constexpr std::string_view mcp_clients[] = {"vscode", "claude", "cursor", "neovim"};

} // namespace cellgate::cli
