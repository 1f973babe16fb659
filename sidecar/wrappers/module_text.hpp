#pragma once
// `module_text` is the text of one tool's Python module.

#include "protocol/tool_spec.hpp"

#include <string>

namespace cellgate::wrappers {

// Throws Error{wrapper_failed} when a schema cannot be used.
std::string module_text(const std::string& server, const protocol::ToolSpec& tool);

} // namespace cellgate::wrappers
