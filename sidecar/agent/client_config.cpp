#include "agent/client_config.hpp"

#include "base/error.hpp"
#include "base/json_scan.hpp"

#include <fmt/format.h>

namespace cellgate::agent {

namespace {

std::string json_string(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

std::string json(std::string_view servers_key, std::string_view type, const std::string& program,
                 std::string_view workspace) {
    return fmt::format("{{\n"
                       "  \"{}\": {{\n"
                       "    \"cellgate\": {{\n"
                       "{}"
                       "      \"command\": {},\n"
                       "      \"args\": [\"mcp\", \"--root\", {}]\n"
                       "    }}\n"
                       "  }}\n"
                       "}}\n",
                       servers_key, type, json_string(program), json_string(workspace));
}

} // namespace

McpClientConfig mcp_client_config(std::string_view client, const std::string& program, const std::string& workspace) {
    constexpr std::string_view stdio = "      \"type\": \"stdio\",\n";
    constexpr std::string_view folder = "${workspaceFolder}";
    if (client == "vscode") {
        return {".vscode/mcp.json of the workspace", json("servers", stdio, program, folder)};
    }
    if (client == "claude") {
        return {".mcp.json of the workspace (Claude Code), or claude_desktop_config.json (Claude Desktop)",
                json("mcpServers", stdio, program, workspace)};
    }
    if (client == "cursor") {
        return {".cursor/mcp.json of the workspace", json("mcpServers", "", program, folder)};
    }
    if (client == "neovim") {
        return {"~/.config/mcphub/servers.json (mcphub.nvim)", json("mcpServers", "", program, workspace)};
    }
    throw Error(ErrorCode::config_invalid, fmt::format("expected vscode, claude, cursor or neovim, found {}", client));
}

} // namespace cellgate::agent
