#pragma once
// `saved_tool_text` is sidecar/kernel/saved_tool.py, embedded at build time; it is sent as code.

#include <string_view>

namespace cellgate::service {

extern const std::string_view saved_tool_text;

} // namespace cellgate::service
