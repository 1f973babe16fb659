#pragma once
// `code_advice` is how the remedy of a note begins that is a change of the code. Any other is for a user to follow.

#include <string_view>

namespace cellgate::protocol {

inline constexpr std::string_view code_advice = "in the code: ";

} // namespace cellgate::protocol
