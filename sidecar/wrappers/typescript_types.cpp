#include "typescript_types.hpp"

#include "typescript_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace cellgate::wrappers {

namespace {

constexpr std::size_t steps_of_an_expression = 200;
constexpr int max_expression_depth = 100;
constexpr std::size_t max_expression_bytes = 20'000;
constexpr std::size_t max_values = 200;
constexpr const char* anything = "unknown";

// Of an enum or a const.
std::string type_of_value(const SchemaNode& value, bool as_literal) {
    if (value.type == "null") {
        return "null";
    }
    if (value.type == "boolean") {
        return as_literal ? std::string(value.text) : "boolean";
    }
    if (value.type == "string") {
        return as_literal ? typescript_literal(decode_json_string(value.text)) : "string";
    }
    if (value.type == "number") {
        // An exponent or many digits would be another number in JavaScript's spelling.
        const bool plain =
            value.text != "-0" && value.text.size() <= 15 && value.text.find_first_of("eE") == std::string_view::npos;
        return as_literal && plain ? std::string(value.text) : "number";
    }
    return value.type == "array" ? "unknown[]" : "Record<string, unknown>";
}

std::string any_of_types(const std::vector<std::string>& types) {
    std::vector<std::string> members;
    for (const std::string& type : types) {
        if (type == anything) {
            return anything;
        }
        append_once(members, type);
    }
    return members.empty() ? anything : fmt::format("{}", fmt::join(members, " | "));
}

} // namespace

TypeScriptTypes::TypeScriptTypes()
    : names_({"Array", "Params", "Promise", "ReadonlyArray", "Record", "Result", "ResultValue"}) {}

void TypeScriptTypes::add_params(const SchemaDocument& schema) {
    document_ = &schema;
    is_input_ = true;
    const SchemaNode& root = params_root(schema);
    interface_type(root, schema.parts(root), "Params", "");
}

std::string TypeScriptTypes::add_result(const SchemaDocument& schema) {
    document_ = &schema;
    is_input_ = false;
    const SchemaNode& root = schema.resolve(schema.root());
    const SchemaParts parts = schema.parts(root);
    if (json_types(parts) == std::vector<std::string>{"object"} && !object_view(schema, parts).properties.empty()) {
        return interface_type(root, parts, "Result", description_of(parts));
    }
    return type_of(root, "ResultValue");
}

std::string TypeScriptTypes::type_of(const SchemaNode& given, const std::string& hint) {
    document_->spend(steps_of_an_expression);
    const SchemaNode& node = document_->resolve(given);
    if (const auto found = known_.find(&node); found != known_.end()) {
        return found->second;
    }
    if (!node.is_object() || depth_ == max_expression_depth) {
        return anything;
    }
    known_[&node] = anything; // what a type that holds itself without an interface between sees of itself
    ++depth_;
    std::string type = make(node, definition_name(given, hint));
    --depth_;
    if (type.size() > max_expression_bytes) {
        type = anything;
    }
    return known_[&node] = type;
}

std::string TypeScriptTypes::make(const SchemaNode& node, const std::string& hint) {
    const SchemaParts parts = document_->parts(node);
    std::vector<std::string> types;
    if (const auto values = allowed_values(parts); !values.empty()) {
        for (const SchemaNode* value : values) {
            types.push_back(type_of_value(*value, values.size() <= max_values));
        }
    } else if (const std::vector<SchemaNode>* alternatives = union_in(*document_, parts)) {
        for (const SchemaNode& alternative : *alternatives) {
            types.push_back(type_of(alternative, hint));
        }
    } else {
        for (const std::string& type : json_types(parts)) {
            types.push_back(of_json_type(type, node, parts, hint));
        }
    }
    return any_of_types(types);
}

std::string TypeScriptTypes::of_json_type(const std::string& type, const SchemaNode& node, const SchemaParts& parts,
                                          const std::string& hint) {
    if (type == "string" || type == "boolean" || type == "null") {
        return type;
    }
    if (type == "integer" || type == "number") {
        return "number";
    }
    if (type == "array") {
        return array_type(parts, hint);
    }
    return type == "object" ? object_type(node, parts, hint) : anything;
}

std::string TypeScriptTypes::array_type(const SchemaParts& parts, const std::string& hint) {
    const ArrayView view = array_view(parts);
    std::string item = anything;
    if (view.prefix != nullptr) {
        std::vector<std::string> types;
        for (const SchemaNode& each : view.prefix->elements) {
            types.push_back(type_of(each, singular(hint)));
        }
        if (view.is_tuple) {
            return fmt::format("{}[{}]", is_input_ ? "readonly " : "", fmt::join(types, ", "));
        }
        item = view.closed ? any_of_types(types) : anything;
    } else if (view.items != nullptr) {
        item = type_of(*view.items, singular(hint));
    }
    return fmt::format("{}<{}>", is_input_ ? "ReadonlyArray" : "Array", item);
}

std::string TypeScriptTypes::object_type(const SchemaNode& node, const SchemaParts& parts, const std::string& hint) {
    const ObjectView view = object_view(*document_, parts);
    if (!view.properties.empty()) {
        return interface_type(node, parts, names_.claim(class_identifier(hint)), description_of(parts));
    }
    const SchemaNode* values = map_values(view, parts);
    return fmt::format("Record<string, {}>", values == nullptr ? anything : type_of(*values, singular(hint)));
}

std::string TypeScriptTypes::interface_type(const SchemaNode& node, const SchemaParts& parts, const std::string& name,
                                            const std::string& description) {
    known_[&node] = name;
    const ObjectView view = object_view(*document_, parts);
    const SchemaNode* others = find_in(parts, "additionalProperties");
    const bool says_open = view.additional != nullptr || (others != nullptr && others->is_true());
    Interface made{name, description, {}, !view.closed && (says_open || view.properties.empty())};
    for (const auto& [wire, schemas] : view.properties) {
        std::vector<std::string> types;
        SchemaParts described_by;
        for (const SchemaNode* schema : schemas) {
            types.push_back(type_of(*schema, wire));
            const SchemaParts more = document_->parts(*schema);
            described_by.insert(described_by.end(), more.begin(), more.end());
        }
        const bool filled_in = is_input_ && &node == &document_->root() && is_filled_in(node, wire);
        made.properties.push_back(
            {wire, any_of_types(types), view.required.contains(wire) && !filled_in, std::move(described_by)});
    }
    interfaces_.push_back(std::move(made));
    return name;
}

} // namespace cellgate::wrappers
