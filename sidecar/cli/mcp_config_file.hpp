#pragma once
// `read_mcp_config` is the parser of `--mcp-config FILE`: tool servers from the user, in the form of `mcpServers`.

#include "protocol/messages/tool_servers.hpp"

#include <map>
#include <string>

namespace cellgate::cli {

// Warns of servers that cannot be used, as the sidecar of the workspace does for its own files. Throws
// Error{config_invalid} for a file that cannot be read, and if no server of it can be used.
std::map<std::string, protocol::McpServerConfig> read_mcp_config(const std::string& path, const std::string& workspace);

} // namespace cellgate::cli
