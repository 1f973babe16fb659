#include "elicitation_text.hpp"

#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "base/json_value.hpp"
#include "base/text.hpp"
#include "prompt_text.hpp"
#include "protocol/origin_text.hpp"
#include "tools/elicitation_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace cellgate::cli {

namespace {

using protocol::ElicitationField;
using protocol::ElicitationFieldType;

// Each line of a text of several lines.
std::string each_line(std::string_view text, std::size_t columns) {
    std::string lines;
    while (true) {
        const std::size_t end = text.find('\n');
        lines += prompt_lines(fmt::format("  {}", escape_unprintable(text.substr(0, end))), columns);
        if (end == std::string_view::npos) {
            return lines;
        }
        text.remove_prefix(end + 1);
    }
}

std::string_view kind_of(const ElicitationField& field) {
    switch (field.type) {
    case ElicitationFieldType::number:
        return "a number";
    case ElicitationFieldType::integer:
        return "a whole number";
    case ElicitationFieldType::boolean:
        return "y or n";
    case ElicitationFieldType::choice:
        return "the number of one option";
    case ElicitationFieldType::choices:
        return "numbers of options, with commas";
    case ElicitationFieldType::text:
        break;
    }
    if (field.format == protocol::ElicitationFormat::date) {
        return "a date like 2026-01-31";
    }
    if (field.format == protocol::ElicitationFormat::date_time) {
        return "a time like 2026-01-31T09:30:00Z";
    }
    if (field.format == protocol::ElicitationFormat::email) {
        return "an email address";
    }
    if (field.format) {
        return "a URI";
    }
    return field.secret.value_or(false) ? "a text, typed unseen" : "a text";
}

std::size_t number_of(const ElicitationField& field, const std::string& value) {
    const auto found = std::find_if(field.options->begin(), field.options->end(),
                                    [&value](const auto& option) { return option.value == value; });
    return static_cast<std::size_t>(found - field.options->begin()) + 1;
}

// What Enter takes, as it would be typed.
std::string initial_of(const ElicitationField& field) {
    const JsonValue value = parse_json_value(field.initial->text());
    switch (field.type) {
    case ElicitationFieldType::boolean:
        return value.text == "true" ? "y" : "n";
    case ElicitationFieldType::choice:
        return std::to_string(number_of(field, value.string));
    case ElicitationFieldType::choices: {
        std::string numbers;
        for (const JsonValue& each : value.elements) {
            numbers += fmt::format("{}{}", numbers.empty() ? "" : ",", number_of(field, each.string));
        }
        return numbers.empty() ? "none" : numbers;
    }
    case ElicitationFieldType::text:
        return value.string;
    case ElicitationFieldType::number:
    case ElicitationFieldType::integer:
        break;
    }
    return std::string(value.text);
}

// The option of this number; nothing if there is none.
std::optional<std::string> option_at(const ElicitationField& field, std::string_view typed) {
    typed = trim(typed, " ");
    std::size_t number = 0;
    const auto [end, status] = std::from_chars(typed.data(), typed.data() + typed.size(), number);
    if (status != std::errc() || end != typed.data() + typed.size() || number == 0 || number > field.options->size()) {
        return std::nullopt;
    }
    return to_json((*field.options)[number - 1].value);
}

// As JSON; nothing if it cannot be read so.
std::optional<std::string> value_of(const ElicitationField& field, const std::string& line) {
    std::string json;
    switch (field.type) {
    case ElicitationFieldType::text:
        append_json_string(json, line);
        return json;
    case ElicitationFieldType::number:
    case ElicitationFieldType::integer:
        return check_json(line) ? std::nullopt : std::optional(line);
    case ElicitationFieldType::boolean:
        if (line != "y" && line != "yes" && line != "n" && line != "no") {
            return std::nullopt;
        }
        return line.front() == 'y' ? "true" : "false";
    case ElicitationFieldType::choice:
        return option_at(field, line);
    case ElicitationFieldType::choices:
        break;
    }
    std::string_view rest = line;
    while (line != "none") {
        const std::size_t comma = rest.find(',');
        const std::optional<std::string> option = option_at(field, rest.substr(0, comma));
        if (!option) {
            return std::nullopt;
        }
        json += (json.empty() ? "" : ",") + *option;
        if (comma == std::string_view::npos) {
            break;
        }
        rest.remove_prefix(comma + 1);
    }
    return "[" + json + "]";
}

} // namespace

std::string elicitation_heading(const protocol::Elicitation& elicitation, std::size_t columns) {
    std::string text;
    if (elicitation.tool) {
        text = "\n== a tool server asks ================================================\n";
        text += prompt_lines(fmt::format("{} asks, while its tool {} runs:", escape_unprintable(elicitation.server),
                                         escape_unprintable(*elicitation.tool)),
                             columns);
    } else {
        text = "\n== before a tool server starts =======================================\n";
    }
    text += each_line(elicitation.message, columns);
    if (elicitation.agent) {
        text += prompt_lines("called by agent " + escape_unprintable(*elicitation.agent), columns);
    }
    if (elicitation.origin) {
        text += prompt_lines("from " + protocol::origin_text(*elicitation.origin), columns);
    }
    if (elicitation.url) {
        text += prompt_lines("host: " + escape_unprintable(elicitation.host.value_or("")), columns);
        text += prompt_lines("page: " + escape_unprintable(*elicitation.url), columns);
    }
    return text + (elicitation.tool ? "What you answer goes to that server. No password belongs here. Ctrl-D cancels.\n"
                                    : "What you answer goes to that server. Ctrl-D cancels.\n");
}

std::string field_heading(const ElicitationField& field, std::size_t columns) {
    std::string text = "\n" + prompt_lines(fmt::format("{} ({}{})", escape_unprintable(field.title), kind_of(field),
                                                       field.required ? "" : "; may be left out with -"),
                                           columns);
    if (field.description) {
        text += each_line(*field.description, columns);
    }
    if (field.options) {
        for (std::size_t i = 0; i < field.options->size(); ++i) {
            text += prompt_lines(fmt::format("{}  {}", i + 1, escape_unprintable((*field.options)[i].title)), columns);
        }
    }
    if (field.initial) {
        text += prompt_lines(fmt::format("Enter takes [{}]", escape_unprintable(initial_of(field))), columns);
    }
    return text;
}

TypedValue typed_value(const ElicitationField& field, const std::string& line) {
    TypedValue typed;
    if (line.empty() && field.initial) {
        typed.json = field.initial->text();
        return typed;
    }
    if (line.empty() || line == "-") {
        typed.problem = field.required ? "it has to be filled in" : "";
        return typed;
    }
    typed.json = value_of(field, line);
    if (!typed.json) {
        typed.problem = fmt::format("expected {}", kind_of(field));
        return typed;
    }
    typed.problem = tools::problem_of_value(field, parse_json_value(*typed.json)).value_or("");
    return typed;
}

} // namespace cellgate::cli
