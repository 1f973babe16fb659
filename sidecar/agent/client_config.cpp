#include "agent/client_config.hpp"

#include "agent/tool_set.hpp"
#include "base/error.hpp"
#include "base/json_codec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace cellgate::agent {

namespace {

// A client that has the entry in a JSON object.
struct JsonClient {
    std::string_view name;
    std::string_view file;
    std::string_view servers_key;
    bool names_transport;
    bool has_workspace_variable;
};

constexpr JsonClient json_clients[] = {
    {"vscode", ".vscode/mcp.json of the workspace", "servers", true, true},
    {"claude", ".mcp.json of the workspace (Claude Code), or claude_desktop_config.json (Claude Desktop)", "mcpServers",
     true, false},
    {"cursor", ".cursor/mcp.json of the workspace", "mcpServers", false, true},
    {"neovim", ".mcphub/servers.json of the workspace (mcphub.nvim 6.1 or newer)", "mcpServers", false, true},
};
constexpr std::string_view codex = "codex";

// The arguments after the program. TOML takes strings of JSON, too.
std::string arguments_text(std::string_view workspace, std::string_view tool_set) {
    return fmt::format(R"(["mcp", "--root", {}{}])", to_json(std::string(workspace)),
                       tool_set == default_tool_set ? "" : ", \"--as\", " + to_json(std::string(tool_set)));
}

std::string in_json(const JsonClient& client, const std::string& program, std::string_view workspace,
                    std::string_view tool_set) {
    return fmt::format("{{\n"
                       "  \"{}\": {{\n"
                       "    \"cellgate\": {{\n"
                       "{}"
                       "      \"command\": {},\n"
                       "      \"args\": {}\n"
                       "    }}\n"
                       "  }}\n"
                       "}}\n",
                       client.servers_key, client.names_transport ? "      \"type\": \"stdio\",\n" : "",
                       to_json(program),
                       arguments_text(client.has_workspace_variable ? "${workspaceFolder}" : workspace, tool_set));
}

} // namespace

std::vector<std::string> mcp_clients() {
    std::vector<std::string> names;
    for (const JsonClient& client : json_clients) {
        names.emplace_back(client.name);
    }
    names.emplace_back(codex);
    return names;
}

McpClientConfig mcp_client_config(std::string_view client, const std::string& program, const std::string& workspace,
                                  std::string_view tool_set) {
    for (const JsonClient& each : json_clients) {
        if (each.name == client) {
            return {std::string(each.file), in_json(each, program, workspace, tool_set)};
        }
    }
    if (client == codex) {
        return {"~/.codex/config.toml", fmt::format("[mcp_servers.cellgate]\n"
                                                    "command = {}\n"
                                                    "args = {}\n",
                                                    to_json(program), arguments_text(workspace, tool_set))};
    }
    throw Error(ErrorCode::config_invalid,
                fmt::format("expected one of {}, found {}", fmt::join(mcp_clients(), ", "), client));
}

} // namespace cellgate::agent
