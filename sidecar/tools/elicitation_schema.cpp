#include "elicitation_schema.hpp"

#include "base/enum_name.hpp"
#include "base/error.hpp"
#include "server_errors.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

namespace cellgate::tools {

namespace {

using protocol::ElicitationField;
using protocol::ElicitationFieldType;
using protocol::ElicitationFormat;
using Type = JsonValue::Type;

constexpr std::size_t max_title = 200;
constexpr std::size_t max_description = 1000;
constexpr std::size_t max_options = 500;

Error not_of_a_form(const std::string& name, const std::string& why) {
    return Error(ErrorCode::invalid_params,
                 fmt::format("requestedSchema.properties.{}: {}", shortened(name, max_title), why));
}

std::string text_of(const JsonValue& schema, std::string_view member) {
    const JsonValue* value = schema.find(member);
    return value != nullptr && value->type == Type::string ? value->string : std::string();
}

std::optional<double> bound(const std::string& name, const JsonValue& schema, std::string_view member) {
    const JsonValue* value = schema.find(member);
    if (value == nullptr) {
        return std::nullopt;
    }
    const double number = value->type == Type::number ? std::strtod(std::string(value->text).c_str(), nullptr) : NAN;
    if (!std::isfinite(number)) {
        throw not_of_a_form(name, fmt::format("expected {} to be a number", member));
    }
    return number;
}

std::vector<std::string> strings_of(const std::string& name, const JsonValue& list) {
    std::vector<std::string> strings;
    for (const JsonValue& each : list.elements) {
        if (each.type != Type::string) {
            throw not_of_a_form(name, "expected options that are strings");
        }
        strings.push_back(each.string);
    }
    return strings;
}

std::vector<protocol::ElicitationOption> named_options(const std::string& name, const JsonValue& list) {
    std::vector<protocol::ElicitationOption> options;
    for (const JsonValue& each : list.elements) {
        const JsonValue* value = each.find("const");
        if (each.type != Type::object || value == nullptr || value->type != Type::string) {
            throw not_of_a_form(name, "expected options with a const that is a string, and a title");
        }
        const std::string title = text_of(each, "title");
        options.push_back({value->string, shortened(title.empty() ? value->string : title, max_title)});
    }
    return options;
}

// From `enum`, with `enumNames`, or from a list of consts.
std::vector<protocol::ElicitationOption> options_of(const std::string& name, const JsonValue& schema,
                                                    std::string_view consts) {
    std::vector<protocol::ElicitationOption> options;
    if (const JsonValue* named = schema.find(consts)) {
        options = named_options(name, *named);
    } else if (const JsonValue* values = schema.find("enum")) {
        const JsonValue* names = schema.find("enumNames");
        const std::vector<std::string> titles =
            names != nullptr ? strings_of(name, *names) : std::vector<std::string>();
        for (const std::string& value : strings_of(name, *values)) {
            const std::string& title = options.size() < titles.size() ? titles[options.size()] : value;
            options.push_back({value, shortened(title, max_title)});
        }
    }
    std::set<std::string> values;
    for (const protocol::ElicitationOption& option : options) {
        values.insert(option.value);
    }
    if (options.empty() || options.size() > max_options || values.size() != options.size()) {
        throw not_of_a_form(name, fmt::format("expected 1 to {} options, each another value", max_options));
    }
    return options;
}

void read_text(const std::string& name, const JsonValue& schema, ElicitationField& field) {
    field.type = ElicitationFieldType::text;
    field.minimum = bound(name, schema, "minLength");
    field.maximum = bound(name, schema, "maxLength");
    const std::string format = text_of(schema, "format");
    field.format = parse_enum<ElicitationFormat>(format);
    if (!format.empty() && !field.format) {
        throw not_of_a_form(name, "expected the format email, uri, date or date-time");
    }
}

void read_choices(const std::string& name, const JsonValue& schema, ElicitationField& field) {
    const JsonValue* items = schema.find("items");
    if (items == nullptr || items->type != Type::object) {
        throw not_of_a_form(name, "expected a list of choices");
    }
    field.type = ElicitationFieldType::choices;
    field.options = options_of(name, *items, "anyOf");
    field.minimum = bound(name, schema, "minItems");
    field.maximum = bound(name, schema, "maxItems");
}

// What would nest, or mean another schema.
void require_flat(const std::string& name, const JsonValue& schema, bool choice) {
    constexpr std::string_view never[] = {"properties", "$ref", "allOf", "not", "if", "anyOf", "patternProperties"};
    for (const std::string_view keyword : never) {
        if (schema.find(keyword) != nullptr) {
            throw not_of_a_form(name, fmt::format("{} is not for forms", keyword));
        }
    }
    if (!choice && (schema.find("oneOf") != nullptr || schema.find("enum") != nullptr)) {
        throw not_of_a_form(name, "only strings can be chosen");
    }
}

} // namespace

ElicitationField read_elicitation_field(const std::string& name, const JsonValue& schema) {
    if (schema.type != Type::object) {
        throw not_of_a_form(name, "expected an object");
    }
    ElicitationField field;
    field.name = name;
    const std::string title = text_of(schema, "title");
    field.title = shortened(title.empty() ? name : title, max_title);
    if (const std::string description = text_of(schema, "description"); !description.empty()) {
        field.description = shortened(description, max_description, true);
    }
    const std::string type = text_of(schema, "type");
    require_flat(name, schema, type == "string");
    if (type == "string" && (schema.find("oneOf") != nullptr || schema.find("enum") != nullptr)) {
        field.type = ElicitationFieldType::choice;
        field.options = options_of(name, schema, "oneOf");
    } else if (type == "string") {
        read_text(name, schema, field);
    } else if (type == "number" || type == "integer") {
        field.type = type == "number" ? ElicitationFieldType::number : ElicitationFieldType::integer;
        field.minimum = bound(name, schema, "minimum");
        field.maximum = bound(name, schema, "maximum");
    } else if (type == "boolean") {
        field.type = ElicitationFieldType::boolean;
    } else if (type == "array") {
        read_choices(name, schema, field);
    } else {
        throw not_of_a_form(name, "expected a string, a number, a boolean or a list of choices");
    }
    if (const JsonValue* initial = schema.find("default"); initial != nullptr && initial->type != Type::null) {
        field.initial = RawJson::checked(std::string(initial->text));
    }
    return field;
}

} // namespace cellgate::tools
