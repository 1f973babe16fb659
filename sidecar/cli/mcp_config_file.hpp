#pragma once
// `read_mcp_config` is the parser of `--mcp-config FILE`: tool servers from the user, in the form of `mcpServers`.

#include "protocol/messages/tool_servers.hpp"

#include <map>
#include <string>

namespace cellgate::cli {

// Throws Error{config_invalid} if any part is invalid: the file is never used in part.
std::map<std::string, protocol::McpServerConfig> read_mcp_config(const std::string& path);

} // namespace cellgate::cli
