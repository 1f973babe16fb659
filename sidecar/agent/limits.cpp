#include "limits.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "output_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace cellgate::agent {

namespace {

std::optional<double> number(const std::map<std::string, std::string>& environment, const char* name) {
    const auto found = environment.find(name);
    if (found == environment.end() || found->second.empty()) {
        return std::nullopt;
    }
    const std::string& text = found->second;
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value <= 0) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("expected {} to be a number above 0, found \"{}\"", name, escape_unprintable(text)),
                    "correct it in the configuration of your agent's program, or leave it out");
    }
    return value;
}

} // namespace

double UserLimits::timeout_of(std::optional<double> asked, double otherwise) const {
    if (asked && max_timeout && *asked > *max_timeout) {
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("arguments.timeout: expected at most {}, found {}", *max_timeout, *asked),
                    "the user who configured this server set SANDBOX_MAX_TIMEOUT");
    }
    const double wanted = asked.value_or(default_timeout.value_or(otherwise));
    return std::min(wanted, max_timeout.value_or(wanted));
}

UserLimits read_user_limits(const std::map<std::string, std::string>& environment) {
    UserLimits limits;
    limits.default_timeout = number(environment, "SANDBOX_DEFAULT_TIMEOUT");
    if (!limits.default_timeout) {
        limits.default_timeout = number(environment, "SANDBOX_TIMEOUT");
    }
    limits.max_timeout = number(environment, "SANDBOX_MAX_TIMEOUT");
    const double most = static_cast<double>(max_output_characters);
    limits.max_characters = static_cast<std::size_t>(
        std::max(1.0, std::min(most, number(environment, "SANDBOX_MAX_OUTPUT_SIZE").value_or(most))));
    return limits;
}

} // namespace cellgate::agent
