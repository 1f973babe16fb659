#pragma once
// parse_time_span() reads how long something takes, as a user writes it.

#include <chrono>
#include <optional>
#include <string_view>

namespace cellgate {

// "30s", "90m", "12h" or "7d"; nothing for any other text, and from a million on.
std::optional<std::chrono::seconds> parse_time_span(std::string_view text);

} // namespace cellgate
