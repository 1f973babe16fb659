#pragma once
// `--mcp-config FILE`: tool servers that the person names, in the form of `mcpServers`.

#include "protocol/messages/tool_servers.hpp"

#include <map>
#include <string>

namespace cellgate::cli {

// Throws Error{config_invalid}: a file that a person named is not half used.
std::map<std::string, protocol::McpServerConfig> read_mcp_config(const std::string& path);

} // namespace cellgate::cli
