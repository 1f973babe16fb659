#pragma once
// `typescript_module` is the text of one tool's TypeScript module: types of its arguments and its result, and one
// function.

#include "protocol/tool_spec.hpp"

#include <string>

namespace cellgate::wrappers {

// Throws Error{wrapper_failed} when a schema cannot be used. `function` is the function's name.
std::string typescript_module(const std::string& server, const protocol::ToolSpec& tool, const std::string& function);

} // namespace cellgate::wrappers
