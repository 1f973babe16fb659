#pragma once
// `execution_values_text` is execution_values.py, which goes into the binary.

#include <string_view>

namespace cellgate::agent {

extern const std::string_view execution_values_text;

} // namespace cellgate::agent
