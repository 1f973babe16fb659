#pragma once
// `ParameterHeader` is an argument of a tool that is also sent as the HTTP field Mcp-Param-<name>, as the tool's input
// schema asks by x-mcp-header (2026-07-28), so that a gateway can route by it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::mcp {

struct ParameterHeader {
    std::vector<std::string> path; // of the argument: names of properties, from the outside in
    std::string name;              // without Mcp-Param-
};

// Those of a tool. Throws Error{tool_server_failed} for a schema in which they are not as MCP has them.
std::vector<ParameterHeader> parameter_headers(std::string_view input_schema);

// The value of the argument as text; nothing if it is absent or null.
std::optional<std::string> parameter_text(std::string_view arguments, const ParameterHeader& header);

} // namespace cellgate::mcp
