#include "base/time_span.hpp"

#include <charconv>
#include <cstdint>
#include <utility>

namespace cellgate {

std::optional<std::chrono::seconds> parse_time_span(std::string_view text) {
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
    const std::string_view unit(end, text.end());
    constexpr std::pair<std::string_view, int> units[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    for (const auto& [name, seconds] : units) {
        if (error == std::errc() && number >= 0 && number < 1'000'000 && unit == name) {
            return std::chrono::seconds(number * seconds);
        }
    }
    return std::nullopt;
}

} // namespace cellgate
