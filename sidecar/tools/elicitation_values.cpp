#include "tools/elicitation_values.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "server_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace cellgate::tools {

namespace {

using protocol::ElicitationField;
using protocol::ElicitationFieldType;
using protocol::ElicitationFormat;
using Type = JsonValue::Type;
using Problem = std::optional<std::string>;

constexpr std::size_t max_text = 64 << 10;

double characters_of(std::string_view text) {
    return static_cast<double>(count_characters(text));
}

bool has_space(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) <= ' '; });
}

bool is_email(std::string_view text) {
    const std::size_t at = text.rfind('@');
    return at != std::string_view::npos && at > 0 && at + 1 < text.size() && !has_space(text);
}

bool is_uri(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view scheme = text.substr(0, colon);
    return colon != std::string_view::npos && colon + 1 < text.size() && !scheme.empty() && !has_space(text) &&
           std::isalpha(static_cast<unsigned char>(scheme[0])) != 0 &&
           std::all_of(scheme.begin(), scheme.end(), [](char c) {
               return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == '.';
           });
}

// The number that `count` digits at `at` are; -1 if they are none.
int digits(std::string_view text, std::size_t at, std::size_t count) {
    if (at + count > text.size()) {
        return -1;
    }
    int number = 0;
    for (const char c : text.substr(at, count)) {
        if (c < '0' || c > '9') {
            return -1;
        }
        number = number * 10 + (c - '0');
    }
    return number;
}

bool is_date(std::string_view text) {
    constexpr std::array<int, 12> days = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const int year = digits(text, 0, 4);
    const int month = digits(text, 5, 2);
    const int day = digits(text, 8, 2);
    if (text.size() != 10 || text[4] != '-' || text[7] != '-' || year < 0 || month < 1 || month > 12 || day < 1) {
        return false;
    }
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[static_cast<std::size_t>(month) - 1] + (month == 2 && leap ? 1 : 0);
}

// "2026-01-05T09:30:00Z", with a fraction or an offset.
bool is_date_time(std::string_view text) {
    if (text.size() < 20 || !is_date(text.substr(0, 10)) || (text[10] != 'T' && text[10] != 't') || text[13] != ':' ||
        text[16] != ':') {
        return false;
    }
    const int hour = digits(text, 11, 2);
    const int minute = digits(text, 14, 2);
    const int second = digits(text, 17, 2);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) {
        return false;
    }
    std::string_view rest = text.substr(19);
    if (rest.front() == '.') {
        const std::size_t end = rest.find_first_not_of("0123456789", 1);
        if (end == std::string_view::npos || end == 1) {
            return false;
        }
        rest.remove_prefix(end);
    }
    if (rest == "Z" || rest == "z") {
        return true;
    }
    return rest.size() == 6 && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':' && digits(rest, 1, 2) >= 0 &&
           digits(rest, 1, 2) < 24 && digits(rest, 4, 2) >= 0 && digits(rest, 4, 2) < 60;
}

Problem format_problem(ElicitationFormat format, std::string_view text) {
    switch (format) {
    case ElicitationFormat::email:
        return is_email(text) ? Problem() : "expected an email address";
    case ElicitationFormat::uri:
        return is_uri(text) ? Problem() : "expected a URI";
    case ElicitationFormat::date:
        return is_date(text) ? Problem() : "expected a date like 2026-01-31";
    case ElicitationFormat::date_time:
        return is_date_time(text) ? Problem() : "expected a time like 2026-01-31T09:30:00Z";
    }
    return Problem();
}

Problem bounds_problem(const ElicitationField& field, double size, std::string_view of) {
    if (field.minimum && size < *field.minimum) {
        return fmt::format("expected at least {:.15g}{}", *field.minimum, of);
    }
    if (field.maximum && size > *field.maximum) {
        return fmt::format("expected at most {:.15g}{}", *field.maximum, of);
    }
    return std::nullopt;
}

Problem text_problem(const ElicitationField& field, const JsonValue& value) {
    if (value.type != Type::string || value.string.size() > max_text) {
        return fmt::format("expected a text of at most {} bytes", max_text);
    }
    if (Problem problem = bounds_problem(field, characters_of(value.string), " characters")) {
        return problem;
    }
    return field.format ? format_problem(*field.format, value.string) : Problem();
}

Problem number_problem(const ElicitationField& field, const JsonValue& value) {
    const bool whole = field.type == ElicitationFieldType::integer;
    const double number = value.type == Type::number ? std::strtod(std::string(value.text).c_str(), nullptr) : NAN;
    if (!std::isfinite(number) || (whole && !Decimal(value.text).is_integer())) {
        return whole ? "expected a whole number" : "expected a number";
    }
    return bounds_problem(field, number, "");
}

bool is_option(const ElicitationField& field, const JsonValue& value) {
    return value.type == Type::string && std::any_of(field.options->begin(), field.options->end(),
                                                     [&](const auto& option) { return option.value == value.string; });
}

Problem choices_problem(const ElicitationField& field, const JsonValue& value) {
    const std::vector<JsonValue>& chosen = value.elements;
    if (value.type != Type::array ||
        !std::all_of(chosen.begin(), chosen.end(), [&](const JsonValue& each) { return is_option(field, each); })) {
        return "expected a list of its options";
    }
    for (std::size_t i = 0; i < chosen.size() && chosen.size() <= field.options->size(); ++i) {
        if (std::any_of(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const JsonValue& each) { return each.string == chosen[i].string; })) {
            return "expected each option once";
        }
    }
    if (chosen.size() > field.options->size()) {
        return "expected each option once";
    }
    return bounds_problem(field, static_cast<double>(chosen.size()), " of them");
}

Error invalid(const std::string& field, const std::string& why) {
    return Error(ErrorCode::answer_invalid, fmt::format("{}: {}", shortened(field, 200), why));
}

} // namespace

Problem problem_of_value(const ElicitationField& field, const JsonValue& value) {
    switch (field.type) {
    case ElicitationFieldType::text:
        return text_problem(field, value);
    case ElicitationFieldType::number:
    case ElicitationFieldType::integer:
        return number_problem(field, value);
    case ElicitationFieldType::boolean:
        return value.type == Type::boolean ? Problem() : "expected true or false";
    case ElicitationFieldType::choice:
        return is_option(field, value) ? Problem() : "expected one of its options";
    case ElicitationFieldType::choices:
        return choices_problem(field, value);
    }
    return Problem();
}

void check_values(const std::vector<ElicitationField>& fields, const RawJson& values) {
    if (!values.is_object()) {
        throw invalid("values", "expected an object");
    }
    const JsonValue filled = parse_json_value(values.text());
    for (const JsonValue::Member& member : filled.members) {
        const auto is_it = [&member](const ElicitationField& field) { return field.name == member.name; };
        if (std::none_of(fields.begin(), fields.end(), is_it)) {
            throw invalid(member.name, "the form has no such field");
        }
    }
    for (const ElicitationField& field : fields) {
        const JsonValue* value = filled.find(field.name);
        if (value == nullptr && field.required) {
            throw invalid(field.title, "has to be filled in");
        }
        if (value != nullptr) {
            if (const Problem problem = problem_of_value(field, *value)) {
                throw invalid(field.title, *problem);
            }
        }
    }
}

} // namespace cellgate::tools
