#pragma once
// `http_address_in` is the URL at which a program says that it serves MCP over HTTP, found in what it printed at its
// start; empty if it says nothing of the kind. "MCP server listening on port 3001" gives http://localhost:3001/mcp.

#include <string>
#include <string_view>

namespace cellgate::tools {

std::string http_address_in(std::string_view output);

} // namespace cellgate::tools
