#include "packages/npm_names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::packages {

namespace {

constexpr std::size_t max_npm_package_bytes = 300;
constexpr std::string_view lower_case = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view upper_case = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view digits = "0123456789";

bool is_in(char c, std::string_view first, std::string_view second, std::string_view third, std::string_view fourth) {
    return first.find(c) != std::string_view::npos || second.find(c) != std::string_view::npos ||
           third.find(c) != std::string_view::npos || fourth.find(c) != std::string_view::npos;
}

bool is_npm_name(std::string_view name) {
    return !name.empty() && is_in(name.front(), lower_case, digits, "-", "") &&
           std::all_of(name.begin(), name.end(), [](char c) { return is_in(c, lower_case, digits, "._-", ""); });
}

bool is_npm_version(std::string_view version) {
    if (version.starts_with('~') || version.starts_with('^')) {
        version.remove_prefix(1);
    }
    return !version.empty() && is_in(version.front(), lower_case, upper_case, digits, "") &&
           std::all_of(version.begin(), version.end(),
                       [](char c) { return is_in(c, lower_case, upper_case, digits, "._+-"); });
}

} // namespace

std::optional<std::string> problem_of_npm_package(std::string_view text) {
    if (text.size() > max_npm_package_bytes) {
        return fmt::format("which is longer than {} bytes", max_npm_package_bytes);
    }
    if (!text.starts_with(npm_prefix)) {
        return "which does not begin with npm:";
    }
    text.remove_prefix(npm_prefix.size());
    if (text.starts_with('@')) {
        const std::size_t slash = text.find('/');
        if (slash == std::string_view::npos || !is_npm_name(text.substr(1, slash - 1))) {
            return "whose scope is no name of npm's, in lower case, with a slash behind it";
        }
        text.remove_prefix(slash + 1);
    }
    const std::size_t at = text.find('@');
    if (!is_npm_name(text.substr(0, at))) {
        return "whose name is none of npm's, in lower case";
    }
    if (at != std::string_view::npos && !is_npm_version(text.substr(at + 1))) {
        return "whose version is neither one such as 4.17.21, nor a range such as ^4, nor a tag";
    }
    return std::nullopt;
}

} // namespace cellgate::packages
