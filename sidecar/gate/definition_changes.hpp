#pragma once
// definition_changes() is what a user reads about a tool's definition that has changed since it was last allowed: a
// diff of both as text, which is safe to show.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::gate {

// A longer definition is not compared.
inline constexpr std::size_t max_definition_bytes = std::size_t{256} << 10;

// Of two definitions that are different JSON texts. At least one line and at most 200, none wider than 76 columns; each
// begins with a space, - or +. A line that continues in the next one goes on there behind the same sign and "↳ ".
std::vector<std::string> definition_changes(std::string_view before, std::string_view after);

} // namespace cellgate::gate
