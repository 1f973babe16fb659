#include "json_match.hpp"

#include "base/json_scan.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>

namespace cellgate::gate {

namespace {

// digits * 10^exponent; the digits neither begin nor end with 0, and are empty for zero.
struct Decimal {
    bool negative = false;
    std::string digits;
    std::int64_t exponent = 0;
    friend bool operator==(const Decimal&, const Decimal&) = default;
};

std::optional<Decimal> decimal(std::string_view number) {
    constexpr std::size_t longest_exponent = 6; // digits
    Decimal result;
    result.negative = number.front() == '-';
    number.remove_prefix(result.negative ? 1 : 0);
    const std::size_t e = std::min(number.find_first_of("eE"), number.size());
    std::string_view mantissa = number.substr(0, e);
    const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
    result.digits = mantissa.substr(0, point);
    if (point < mantissa.size()) {
        result.digits += mantissa.substr(point + 1);
        result.exponent = -static_cast<std::int64_t>(mantissa.size() - point - 1);
    }
    result.digits.erase(0, result.digits.find_first_not_of('0'));
    if (result.digits.empty()) {
        return Decimal{};
    }
    const std::size_t length = result.digits.find_last_not_of('0') + 1;
    result.exponent += static_cast<std::int64_t>(result.digits.size() - length);
    result.digits.resize(length);
    if (e < number.size()) {
        std::string_view exponent = number.substr(e + 1);
        const bool negative = exponent.front() == '-';
        exponent.remove_prefix(negative || exponent.front() == '+' ? 1 : 0);
        exponent.remove_prefix(std::min(exponent.find_first_not_of('0'), exponent.size()));
        if (exponent.size() > longest_exponent) {
            return std::nullopt;
        }
        std::int64_t value = 0;
        std::from_chars(exponent.data(), exponent.data() + exponent.size(), value);
        result.exponent += negative ? -value : value;
    }
    return result;
}

Match same_number(std::string_view a, std::string_view b) {
    if (decimal(a) && decimal(a) == decimal(b)) {
        return Match::yes;
    }
    double x = 0;
    double y = 0;
    const bool fits = std::from_chars(a.data(), a.data() + a.size(), x).ec == std::errc() &&
                      std::from_chars(b.data(), b.data() + b.size(), y).ec == std::errc();
    return fits && x != y ? Match::no : Match::unclear;
}

} // namespace

bool is_pointer(std::string_view pointer) {
    if (!pointer.empty() && pointer.front() != '/') {
        return false;
    }
    for (std::size_t at = pointer.find('~'); at != std::string_view::npos; at = pointer.find('~', at + 1)) {
        if (at + 1 == pointer.size() || (pointer[at + 1] != '0' && pointer[at + 1] != '1')) {
            return false;
        }
    }
    return true;
}

std::optional<std::string_view> find_pointer(std::string_view json, std::string_view pointer) {
    json = trim_json(json);
    while (!pointer.empty()) {
        pointer.remove_prefix(1);
        const std::string_view escaped = pointer.substr(0, pointer.find('/'));
        pointer.remove_prefix(escaped.size());
        std::string key;
        for (std::size_t at = 0; at < escaped.size(); ++at) {
            key += escaped[at] != '~' ? escaped[at] : escaped[++at] == '1' ? '/' : '~';
        }
        if (json.front() == '{') {
            const auto members = json_members(json);
            const auto found =
                std::find_if(members.begin(), members.end(), [&](const auto& member) { return member.first == key; });
            if (found == members.end()) {
                return std::nullopt;
            }
            json = found->second;
        } else if (json.front() == '[') {
            std::size_t index = 0;
            const auto [end, status] = std::from_chars(key.data(), key.data() + key.size(), index);
            const bool canonical =
                status == std::errc() && end == key.data() + key.size() && (key.front() != '0' || key.size() == 1);
            const auto elements = json_elements(json);
            if (!canonical || index >= elements.size()) {
                return std::nullopt;
            }
            json = elements[index];
        } else {
            return std::nullopt;
        }
    }
    return json;
}

Match same_value(std::string_view a, std::string_view b) {
    a = trim_json(a);
    b = trim_json(b);
    const std::string_view type = json_type(a);
    if (type != json_type(b)) {
        return Match::no;
    }
    if (type == "number") {
        return same_number(a, b);
    }
    if (type == "string") {
        return decode_json_string(a) == decode_json_string(b) ? Match::yes : Match::no;
    }
    Match all = Match::yes;
    if (type == "array") {
        const auto left = json_elements(a);
        const auto right = json_elements(b);
        all = left.size() == right.size() ? all : Match::no;
        for (std::size_t i = 0; i < left.size() && all != Match::no; ++i) {
            all = std::min(all, same_value(left[i], right[i]));
        }
        return all;
    }
    if (type == "object") {
        auto left = json_members(a);
        auto right = json_members(b);
        all = left.size() == right.size() ? all : Match::no;
        std::sort(left.begin(), left.end());
        std::sort(right.begin(), right.end());
        for (std::size_t i = 0; i < left.size() && all != Match::no; ++i) {
            all = left[i].first == right[i].first ? std::min(all, same_value(left[i].second, right[i].second))
                                                  : Match::no;
        }
        return all;
    }
    return a == b ? Match::yes : Match::no;
}

bool is_comparable(std::string_view json) {
    json = trim_json(json);
    const std::string_view type = json_type(json);
    if (type == "number") {
        return decimal(json).has_value();
    }
    if (type == "array") {
        const auto elements = json_elements(json);
        return std::all_of(elements.begin(), elements.end(), is_comparable);
    }
    if (type == "object") {
        const auto members = json_members(json);
        return std::all_of(members.begin(), members.end(),
                           [](const auto& member) { return is_comparable(member.second); });
    }
    return true;
}

} // namespace cellgate::gate
