#pragma once
// The text of one tool's Python module.

#include "protocol/tool_spec.hpp"

#include <string>

namespace cellgate::wrappers {

// The first line of every file that we make. It keeps the first two lines, where Python looks for an encoding, ours.
inline constexpr const char* file_header =
    "# Made by cellgate from what a tool server says about its tools; changes are overwritten.\n\n";

// What follows the header in a package's __init__.py: the server that it is of.
std::string server_record(const std::string& server);

// Throws Error{wrapper_failed} when a schema cannot be used.
std::string module_text(const std::string& server, const protocol::ToolSpec& tool);

} // namespace cellgate::wrappers
