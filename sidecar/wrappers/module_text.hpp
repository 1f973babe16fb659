#pragma once
// `module_text` is the text of one tool's Python module.

#include "protocol/tool_spec.hpp"

#include <string>

namespace cellgate::wrappers {

// The first line of every generated file. It occupies the first two lines, where Python looks for an encoding.
inline constexpr const char* file_header =
    "# Made by cellgate from what a tool server says about its tools; changes are overwritten.\n\n";

// The line after the header in a package's __init__.py: its server.
std::string server_record(const std::string& server);

// Throws Error{wrapper_failed} when a schema cannot be used.
std::string module_text(const std::string& server, const protocol::ToolSpec& tool);

} // namespace cellgate::wrappers
