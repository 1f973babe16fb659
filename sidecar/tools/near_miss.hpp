#pragma once
// `near_miss()` finds the slip in the name of a field of a server's configuration. Other programs' fields are none.

#include <optional>
#include <string_view>

namespace cellgate::tools {

// The field that was meant; nothing for one of ours, and for one that is unlike all of ours.
std::optional<std::string_view> near_miss(std::string_view field);

} // namespace cellgate::tools
