#include "record/canonical_json.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/json_scan.hpp"
#include "base/json_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace cellgate::record {

namespace {

// Whether UTF-16 code units sort `a` before `b`. UTF-8 sorts by code points, and differs in this alone: what UTF-16
// writes by surrogates (F0 to F4 in UTF-8) comes before U+E000 to U+FFFF (EE and EF).
bool sorts_before(std::string_view a, std::string_view b) {
    const auto rank = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte == 0xee || byte == 0xef ? byte + 0x10 : static_cast<int>(byte);
    };
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [&rank](char x, char y) { return rank(x) < rank(y); });
}

bool is_escaped(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

void write_string(std::string& out, std::string_view text) {
    constexpr std::string_view escaped = "\"\\\b\t\n\f\r";
    constexpr std::string_view letters = "\"\\btnfr";
    out += '"';
    while (true) {
        const auto plain = static_cast<std::size_t>(std::find_if(text.begin(), text.end(), is_escaped) - text.begin());
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) {
            break;
        }
        const char c = text.front();
        if (const std::size_t at = escaped.find(c); at != std::string_view::npos) {
            out += '\\';
            out += letters[at];
        } else {
            out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        }
        text.remove_prefix(1);
    }
    out += '"';
}

double double_of(std::string_view text) {
    double value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) {
        value =
            std::strtod(std::string(text).c_str(), nullptr); // out of range: zero or infinite, which is told apart here
    }
    if (!std::isfinite(value)) {
        throw Error(ErrorCode::invalid_params,
                    fmt::format("expected a number that a double can hold, found {}", text.substr(0, 40)));
    }
    return value;
}

// Number::toString of ECMAScript. Its digits are the shortest that name this double, which is what to_chars gives.
void write_number(std::string& out, std::string_view text) {
    constexpr int max_plain = 21; // digits before the point without an exponent
    constexpr int max_zeros = 6;  // zeros after the point without one
    const double value = double_of(text);
    if (value == 0) {
        out += '0';
        return;
    }
    std::array<char, 32> buffer{};
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value), std::chars_format::scientific).ptr;
    const std::string_view written(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    const std::size_t e = written.find('e');
    std::string digits(written.substr(0, e));
    std::erase(digits, '.');
    const int count = static_cast<int>(digits.size());
    const int point = std::atoi(written.data() + e + 1) + 1; // the point comes after so many digits
    out += value < 0 ? "-" : "";
    if (point > max_plain || point <= -max_zeros) {
        out += digits.substr(0, 1);
        out += count > 1 ? "." + digits.substr(1) : "";
        out += fmt::format("e{:+}", point - 1);
    } else if (point >= count) {
        out += digits + std::string(static_cast<std::size_t>(point - count), '0');
    } else if (point > 0) {
        const auto at = static_cast<std::size_t>(point);
        out += digits.substr(0, at) + "." + digits.substr(at);
    } else {
        out += "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
    }
}

void write_value(std::string& out, const JsonValue& value);

void write_object(std::string& out, const std::vector<JsonValue::Member>& members) {
    std::vector<const JsonValue::Member*> sorted;
    sorted.reserve(members.size());
    for (const JsonValue::Member& member : members) {
        sorted.push_back(&member);
    }
    std::sort(sorted.begin(), sorted.end(),
              [](const JsonValue::Member* a, const JsonValue::Member* b) { return sorts_before(a->name, b->name); });
    out += '{';
    for (const JsonValue::Member* member : sorted) {
        out += member == sorted.front() ? "" : ",";
        write_string(out, member->name);
        out += ':';
        write_value(out, member->value);
    }
    out += '}';
}

void write_array(std::string& out, const std::vector<JsonValue>& elements) {
    out += '[';
    for (const JsonValue& element : elements) {
        out += &element == &elements.front() ? "" : ",";
        write_value(out, element);
    }
    out += ']';
}

void write_value(std::string& out, const JsonValue& value) {
    switch (value.type) {
    case JsonValue::Type::object:
        return write_object(out, value.members);
    case JsonValue::Type::array:
        return write_array(out, value.elements);
    case JsonValue::Type::string:
        return write_string(out, value.string);
    case JsonValue::Type::number:
        return write_number(out, value.text);
    case JsonValue::Type::boolean:
    case JsonValue::Type::null:
        out += value.text;
    }
}

} // namespace

std::string canonical_json(std::string_view text) {
    if (const std::optional<JsonProblem> problem = check_json(text)) {
        throw Error(ErrorCode::invalid_params,
                    fmt::format("expected one JSON value, found {} at byte {}", problem->what, problem->offset));
    }
    std::string out;
    out.reserve(text.size());
    write_value(out, parse_json_value(text));
    return out;
}

} // namespace cellgate::record
