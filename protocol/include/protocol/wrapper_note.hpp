#pragma once
// `wrapper_command` is how the remedy of a note about missing wrappers begins; the server's name follows. A client
// whose agent can write them itself names its own way in place of it.

#include <string_view>

namespace cellgate::protocol {

inline constexpr std::string_view wrapper_command = "cellgate generate ";

} // namespace cellgate::protocol
