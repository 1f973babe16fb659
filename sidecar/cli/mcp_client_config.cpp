#include "mcp_client_config.hpp"

#include "base/error.hpp"
#include "base/json_scan.hpp"

#include <fmt/format.h>

namespace cellgate::cli {

namespace {

std::string quoted(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

std::string json(std::string_view servers_key, std::string_view type, const std::string& program,
                 std::string_view root) {
    return fmt::format("{{\n"
                       "  \"{}\": {{\n"
                       "    \"cellgate\": {{\n"
                       "{}"
                       "      \"command\": {},\n"
                       "      \"args\": [\"mcp\", \"--root\", {}]\n"
                       "    }}\n"
                       "  }}\n"
                       "}}\n",
                       servers_key, type, quoted(program), quoted(root));
}

} // namespace

McpClientConfig mcp_client_config(std::string_view client, const std::string& program, const std::string& root) {
    constexpr std::string_view stdio = "      \"type\": \"stdio\",\n";
    constexpr std::string_view folder = "${workspaceFolder}";
    if (client == "vscode") {
        return {".vscode/mcp.json of the workspace", json("servers", stdio, program, folder)};
    }
    if (client == "claude") {
        return {".mcp.json of the workspace (Claude Code), or claude_desktop_config.json (Claude Desktop)",
                json("mcpServers", stdio, program, root)};
    }
    if (client == "cursor") {
        return {".cursor/mcp.json of the workspace", json("mcpServers", "", program, folder)};
    }
    if (client == "neovim") {
        return {"~/.config/mcphub/servers.json (mcphub.nvim)", json("mcpServers", "", program, root)};
    }
    throw Error(ErrorCode::config_invalid, fmt::format("expected vscode, claude, cursor or neovim, found {}", client));
}

} // namespace cellgate::cli
