#include "refusal_log.hpp"

#include <fmt/format.h>

namespace cellgate::egress {

namespace {

constexpr std::size_t max_distinct = 64;

bool is_power_of_ten(std::uint64_t count) {
    while (count >= 10 && count % 10 == 0) {
        count /= 10;
    }
    return count == 1;
}

} // namespace

std::optional<std::string> RefusalLog::line(const Endpoint& endpoint, const std::string& reason) {
    const std::string what = fmt::format("connection to {} refused: {}", to_string(endpoint), reason);
    const bool own = counts_.contains(what) || counts_.size() < max_distinct;
    const std::uint64_t count = ++counts_[own ? what : std::string()];
    if (!is_power_of_ten(count)) {
        ++unreported_;
        return std::nullopt;
    }
    if (!own) {
        return fmt::format("connections to further hosts refused: {} so far", count);
    }
    return count == 1 ? what : fmt::format("{} ({} times so far)", what, count);
}

std::optional<std::string> RefusalLog::last_line() const {
    return unreported_ == 0
               ? std::nullopt
               : std::optional(fmt::format("{} more connections were refused like those above", unreported_));
}

} // namespace cellgate::egress
