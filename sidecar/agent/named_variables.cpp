#include "named_variables.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace cellgate::agent {

namespace {

[[noreturn]] void fail_value(const std::string& name, std::string_view expected, const std::string& value) {
    throw Error(ErrorCode::config_invalid,
                fmt::format("expected {} to be {}, found \"{}\"", name, expected, escape_unprintable(value)),
                "correct it in the configuration of your agent's program, or leave it out");
}

} // namespace

void read_variables(const Environment& environment, std::string_view prefix,
                    const std::vector<NamedVariable>& variables) {
    std::vector<std::string> names;
    for (const NamedVariable& variable : variables) {
        if (variable.suggested) {
            names.push_back(variable.name);
        }
    }
    for (const auto& each : environment) {
        const std::string& name = each.first;
        const auto is_named = [&name](const NamedVariable& variable) { return variable.name == name; };
        if (name.starts_with(prefix) && std::none_of(variables.begin(), variables.end(), is_named)) {
            throw Error(ErrorCode::config_invalid, fmt::format("there is no variable {}", escape_unprintable(name)),
                        did_you_mean(name, names));
        }
    }
    for (const NamedVariable& variable : variables) {
        const auto found = environment.find(variable.name);
        if (found != environment.end() && !found->second.empty()) {
            variable.read(found->first, found->second);
        }
    }
}

double read_number(const std::string& name, const std::string& value) {
    double number = 0;
    const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (status != std::errc() || end != value.data() + value.size() || !std::isfinite(number) || number <= 0) {
        fail_value(name, "a number above 0", value);
    }
    return number;
}

bool read_flag(const std::string& name, const std::string& value) {
    const std::string text = lower(value);
    if (text != "true" && text != "false") {
        fail_value(name, "true or false", value);
    }
    return text == "true";
}

std::optional<std::uint64_t> parse_memory(std::string_view text) {
    constexpr std::string_view units = "bkmg";
    std::uint64_t bytes = 0;
    const char* const last = text.data() + text.size();
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (status != std::errc() || last - end > 1 || bytes == 0) {
        return std::nullopt;
    }
    const std::size_t unit = end == last ? 0 : units.find(lower({end, last}));
    if (unit == std::string_view::npos || bytes > std::numeric_limits<std::uint64_t>::max() >> (10 * unit)) {
        return std::nullopt;
    }
    return bytes << (10 * unit);
}

NamedVariable not_taken(std::string name, std::string because, std::string hint) {
    return {std::move(name),
            [because, hint](const std::string& variable, const std::string&) {
                throw Error(ErrorCode::config_invalid, fmt::format("{}: {}", variable, because), hint);
            },
            false};
}

} // namespace cellgate::agent
