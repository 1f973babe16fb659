#include "value_checks.hpp"

#include "base/escape_unprintable.hpp"
#include "base/names.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

namespace cellgate::cli {

namespace {

// `takes`: whether a text is such a value.
template <class Takes>
CLI::Validator value_check(std::string expected, const Takes& takes) {
    return CLI::Validator(
        [expected = std::move(expected), takes](std::string& text) {
            return takes(text) ? std::string()
                               : fmt::format("expected {}, found {}", expected,
                                             text.empty() ? "nothing" : escape_unprintable(text));
        },
        {});
}

CLI::Validator path_check(const char* expected, bool (*fits)(std::filesystem::file_type)) {
    return CLI::Validator(
        [expected, fits](std::string& text) {
            std::error_code ignored;
            const std::filesystem::file_type type = std::filesystem::status(text, ignored).type();
            if (fits(type)) {
                return std::string();
            }
            const char* found = type == std::filesystem::file_type::directory   ? "a folder"
                                : type == std::filesystem::file_type::not_found ? "none"
                                : type == std::filesystem::file_type::none      ? "what cannot be reached"
                                                                                : "a file";
            return fmt::format("expected {}, found {}: {}", expected, found, escape_unprintable(text));
        },
        {});
}

bool is_there(std::filesystem::file_type type) {
    return type != std::filesystem::file_type::not_found && type != std::filesystem::file_type::none;
}

// All of `text` as a number.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> bytes_in(std::string_view typed) {
    constexpr std::string_view units = "kmgtpe";
    constexpr double most = 9e18; // what a JSON number of the protocol may be
    const std::string text = lower(typed);
    const std::size_t behind = std::min(text.find_first_not_of("0123456789."), text.size());
    std::string_view unit = std::string_view(text).substr(behind);
    unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
    double bytes = number_in<double>(std::string_view(text).substr(0, behind)).value_or(0);
    if (const std::size_t power = unit.empty() ? std::string_view::npos : units.find(unit.front());
        power != std::string_view::npos) {
        bytes *= std::pow(1024.0, static_cast<double>(power + 1));
        unit.remove_prefix(unit.substr(1) == "ib" ? 2 : 1);
    }
    const bool is_size = (unit.empty() || unit == "b") && bytes >= 1 && bytes <= most;
    return is_size ? std::optional(static_cast<std::uint64_t>(bytes)) : std::nullopt;
}

// How the check of one_of() is named; its names follow.
constexpr std::string_view one_of_names = "one of:";

// As RecordEntry in schemas/protocol.json has them.
constexpr std::array types_of_entries = {"action.decided",  "action.ended",   "execution.started", "execution.ended",
                                         "kernel.started",  "kernel.ended",   "policy.added",      "policy.removed",
                                         "session.created", "session.closed", "login.ended",       "files.changed",
                                         "files.restored",  "limits.changed", "secret.set",        "secret.deleted",
                                         "secret.used",     "record.gap",     "record.pruned"};

} // namespace

CLI::Validator existing_file() {
    return path_check("a file", [](std::filesystem::file_type type) {
        return is_there(type) && type != std::filesystem::file_type::directory;
    });
}

CLI::Validator existing_folder() {
    return path_check("a folder",
                      [](std::filesystem::file_type type) { return type == std::filesystem::file_type::directory; });
}

CLI::Validator existing_path() {
    return path_check("a folder or a file", is_there);
}

CLI::Validator one_of(std::vector<std::string> names) {
    std::string expected = fmt::format("one of {}", fmt::join(names, ", "));
    std::string check_name = fmt::format("{}{}", one_of_names, fmt::join(names, ","));
    CLI::Validator check = value_check(std::move(expected), [names = std::move(names)](const std::string& text) {
        return std::find(names.begin(), names.end(), text) != names.end();
    });
    return check.name(std::move(check_name));
}

std::vector<std::string> names_taken_by(const CLI::Option& option) {
    std::vector<std::string> names;
    try {
        // CLI11 shows the checks of no const option.
        std::string_view rest = const_cast<CLI::Option&>(option).get_validator(0)->get_name(); // NOLINT
        if (!rest.starts_with(one_of_names)) {
            return names;
        }
        rest.remove_prefix(one_of_names.size());
        while (!rest.empty()) {
            names.emplace_back(rest.substr(0, rest.find(',')));
            rest.remove_prefix(std::min(names.back().size() + 1, rest.size()));
        }
    } catch (const CLI::OptionNotFound&) { // it has no check
    }
    return names;
}

CLI::Validator entry_type() {
    return CLI::Validator(
        [](std::string& text) {
            return std::find(types_of_entries.begin(), types_of_entries.end(), text) != types_of_entries.end()
                       ? std::string()
                       : fmt::format("expected the type of an entry, found {}. {}", escape_unprintable(text),
                                     did_you_mean(text, {types_of_entries.begin(), types_of_entries.end()}));
        },
        {});
}

std::string entry_types() {
    return fmt::format("{}", fmt::join(types_of_entries, ", "));
}

CLI::Validator variable_name() {
    return value_check("a name of letters, digits and _, which begins with no digit",
                       [](const std::string& text) { return is_variable_name(text); });
}

CLI::Validator http_url() {
    return value_check("a URL that begins with http:// or https://", [](const std::string& text) {
        return text.starts_with("http://") || text.starts_with("https://");
    });
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
    std::string expected = most == INT64_MAX ? fmt::format("a whole number from {} on", least)
                                             : fmt::format("a whole number from {} to {}", least, most);
    return value_check(std::move(expected), [least, most](const std::string& text) {
        const auto number = number_in<std::int64_t>(text);
        return number && *number >= least && *number <= most;
    });
}

CLI::Validator positive_number() {
    return value_check("a number greater than 0", [](const std::string& text) {
        const auto number = number_in<double>(text);
        return number && *number > 0 && std::isfinite(*number);
    });
}

CLI::Validator number_of_seconds() {
    return value_check("a number of seconds from 0", [](const std::string& text) {
        const auto number = number_in<double>(text);
        return number && *number >= 0 && std::isfinite(*number);
    });
}

CLI::Validator size_in_bytes(std::uint64_t least) {
    return CLI::Validator(
        [least](std::string& text) {
            constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
            const std::optional<std::uint64_t> bytes = bytes_in(text);
            if (!bytes) {
                return fmt::format("expected a size such as 512M or 4G, found {}",
                                   text.empty() ? "nothing" : escape_unprintable(text));
            }
            if (*bytes < least * mebibyte) {
                return fmt::format("expected at least {}M, such as 512M or 4G, found {}{}", least,
                                   escape_unprintable(text),
                                   std::to_string(*bytes) == text ? ", which is so many bytes" : "");
            }
            text = std::to_string(*bytes);
            return std::string();
        },
        {});
}

} // namespace cellgate::cli
