#include "types.hpp"

#include "literal_types.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace cellgate::wrappers {

namespace {

constexpr std::size_t steps_of_a_type = 200;
constexpr int max_type_depth = 100;
constexpr std::size_t max_expression = 20'000;

std::string reader_argument(const PythonType& type) {
    return type.reader.empty() ? "None" : type.reader;
}

} // namespace

const std::set<std::string>& reserved_names() {
    static const std::set<std::string> names{
        "Any",      "Contents", "Coroutine", "Dict",      "False", "List", "Literal", "Mapping", "None",
        "Optional", "Params",   "Result",    "Sequence",  "Text",  "True", "Tuple",   "UNSET",   "Union",
        "Unset",    "bool",     "extra",     "from_dict", "float", "int",  "self",    "str",     "to_dict"};
    return names;
}

TypeBuilder::TypeBuilder(std::set<std::string> taken)
    : names_([&] {
          taken.insert(reserved_names().begin(), reserved_names().end());
          return std::move(taken);
      }()) {}

void TypeBuilder::add_params(const SchemaDocument& schema) {
    document_ = &schema;
    is_input_ = true;
    const SchemaNode& root = params_root(schema);
    class_type(root, object_view(schema, schema.parts(root)), "Params", "");
}

PythonType TypeBuilder::add_result(const SchemaDocument& schema) {
    document_ = &schema;
    is_input_ = false;
    const SchemaNode& root = schema.resolve(schema.root());
    const SchemaParts parts = schema.parts(root);
    const ObjectView view = object_view(schema, parts);
    if (json_types(parts) == std::vector<std::string>{"object"} && !view.properties.empty()) {
        return class_type(root, view, "Result", description_of(parts));
    }
    return type_of(root, "ResultValue");
}

PythonType TypeBuilder::type_of(const SchemaNode& given, const std::string& hint) {
    document_->spend(steps_of_a_type);
    const SchemaNode& node = document_->resolve(given);
    if (const auto found = known_.find(&node); found != known_.end()) {
        return found->second;
    }
    if (!node.is_object() || depth_ == max_type_depth) {
        return {};
    }
    known_[&node] = {}; // what a type that holds itself without a class between sees of itself
    ++depth_;
    PythonType type = make(node, definition_name(given, hint));
    --depth_;
    if (std::max({type.annotation.size(), type.reader.size(), type.variant.size()}) > max_expression) {
        type = {};
    }
    return known_[&node] = type;
}

PythonType TypeBuilder::make(const SchemaNode& node, const std::string& hint) {
    const SchemaParts parts = document_->parts(node);
    if (const auto values = allowed_values(parts); !values.empty()) {
        return one_of_values(values);
    }
    if (const std::vector<SchemaNode>* alternatives = union_in(*document_, parts)) {
        return union_of(*alternatives, hint);
    }
    std::vector<PythonType> types;
    for (const std::string& type : json_types(parts)) {
        types.push_back(of_json_type(type, node, parts, hint));
    }
    return either(types);
}

PythonType TypeBuilder::of_json_type(const std::string& type, const SchemaNode& node, const SchemaParts& parts,
                                     const std::string& hint) {
    if (type == "string") {
        return {"str", "", ""};
    }
    if (type == "integer") {
        return {"int", "", ""};
    }
    if (type == "number") {
        return {"float", "", ""};
    }
    if (type == "boolean") {
        return {"bool", "", ""};
    }
    if (type == "null") {
        return {"None", "", "", true};
    }
    if (type == "array") {
        return array_type(parts, hint);
    }
    return type == "object" ? object_type(node, parts, hint) : PythonType{};
}

PythonType TypeBuilder::array_type(const SchemaParts& parts, const std::string& hint) {
    const ArrayView view = array_view(parts);
    PythonType item;
    if (view.prefix != nullptr) {
        std::vector<PythonType> types;
        for (const SchemaNode& each : view.prefix->elements) {
            types.push_back(type_of(each, singular(hint)));
        }
        if (view.is_tuple) {
            std::vector<std::string> annotations;
            std::vector<std::string> readers;
            for (const PythonType& type : types) {
                annotations.push_back(type.annotation);
                readers.push_back(reader_argument(type));
            }
            return {fmt::format("Tuple[{}]", fmt::join(annotations, ", ")),
                    fmt::format("_tuple_of({})", fmt::join(readers, ", ")), ""};
        }
        item = view.closed ? either(types) : PythonType{};
    } else if (view.items != nullptr) {
        item = type_of(*view.items, singular(hint));
    }
    // A list of dicts is no List of a Union, as lists can be changed.
    const std::string_view kind = is_input_ && !item.reader.empty() ? "Sequence" : "List";
    return {fmt::format("{}[{}]", kind, item.annotation),
            item.reader.empty() ? "" : fmt::format("_list_of({})", item.reader), ""};
}

PythonType TypeBuilder::object_type(const SchemaNode& node, const SchemaParts& parts, const std::string& hint) {
    const ObjectView view = object_view(*document_, parts);
    if (!view.properties.empty()) {
        if (const auto same = input_types_.find(node.text); !is_input_ && same != input_types_.end()) {
            return same->second;
        }
        std::string name = class_identifier(hint);
        if (!is_input_ && names_.taken(name)) {
            name.insert(0, "Result");
        }
        return class_type(node, view, names_.claim(name), description_of(parts));
    }
    const SchemaNode* values = map_values(view, parts);
    const PythonType value = values == nullptr ? PythonType{} : type_of(*values, singular(hint));
    const std::string_view kind = is_input_ && !value.reader.empty() ? "Mapping" : "Dict";
    return {fmt::format("{}[str, {}]", kind, value.annotation),
            value.reader.empty() ? "" : fmt::format("_dict_of({})", value.reader), ""};
}

PythonType TypeBuilder::class_type(const SchemaNode& node, const ObjectView& view, const std::string& name,
                                   const std::string& description) {
    PythonType type{name, fmt::format("_struct({})", name), variant_reader(view, name)};
    if (type.variant.size() > max_expression) {
        type.variant.clear();
    }
    PythonType used = type; // which fields may be
    if (is_input_) {
        used.annotation = fmt::format("Union[{}, Mapping[str, Any]]", name);
    }
    known_[&node] = used;
    Class made{name, description, {}, std::nullopt, is_input_};
    std::vector<std::string> wire_names;
    for (const auto& [wire, parts] : view.properties) {
        wire_names.push_back(wire);
    }
    const std::vector<std::string> names = identifiers_for(wire_names, "field", reserved_names());
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto& [wire, schemas] = view.properties[i];
        std::vector<PythonType> types;
        SchemaParts parts;
        for (const SchemaNode* schema : schemas) {
            types.push_back(type_of(*schema, wire));
            const SchemaParts more = document_->parts(*schema);
            parts.insert(parts.end(), more.begin(), more.end());
        }
        const bool filled_in = is_input_ && &node == &document_->root() && is_filled_in(node, wire);
        const bool required = view.required.contains(wire) && !filled_in;
        made.fields.push_back({wire, names[i], either(types), required, std::move(parts)});
    }
    if (!view.closed) {
        made.extra = view.additional == nullptr ? PythonType{} : type_of(*view.additional, "extra_value");
    }
    // What a Result holds was read, and is of its classes; what a caller passes may be dicts.
    const bool has_dicts = std::any_of(made.fields.begin(), made.fields.end(), [](const Field& field) {
        return field.type.annotation.find("Mapping[") != std::string::npos;
    });
    classes_.push_back(std::move(made));
    if (is_input_ && !has_dicts && node.text.find("\"$ref\"") == std::string_view::npos) {
        input_types_.emplace(node.text, type);
    }
    return used;
}

PythonType TypeBuilder::union_of(const std::vector<SchemaNode>& alternatives, const std::string& hint) {
    std::vector<PythonType> types;
    for (const SchemaNode& alternative : alternatives) {
        types.push_back(type_of(alternative, hint));
    }
    return either(types);
}

PythonType TypeBuilder::either(const std::vector<PythonType>& types) const {
    std::vector<std::string> annotations;
    std::vector<PythonType> read;
    bool with_none = false;
    bool takes_null = false;
    for (const PythonType& type : types) {
        if (type.annotation == "Any") {
            return {};
        }
        takes_null = takes_null || type.takes_null;
        if (type.annotation == "None") {
            with_none = true;
            continue;
        }
        const std::size_t before = annotations.size();
        append_once(annotations, type.annotation);
        if (annotations.size() > before && !type.reader.empty()) {
            read.push_back(type);
        }
    }
    if (with_none) {
        annotations.push_back("None");
    }
    if (annotations.empty()) {
        return {};
    }
    if (types.size() == 1) {
        return types.front();
    }
    PythonType made{union_annotation(annotations), "", "", takes_null};
    if (read.size() == 1) {
        made.reader = read.front().reader;
        made.variant = read.front().variant;
    } else if (read.size() > 1) {
        std::vector<std::string> readers;
        for (const PythonType& type : read) {
            readers.push_back(type.variant.empty() ? type.reader : type.variant);
        }
        made.reader = fmt::format("_first_of({})", fmt::join(readers, ", "));
    }
    return made;
}

std::string TypeBuilder::variant_reader(const ObjectView& view, const std::string& name) const {
    std::string required;
    std::string values;
    for (const auto& [wire, schemas] : view.properties) {
        if (view.required.contains(wire)) {
            required += string_literal(wire) + ", ";
        }
        std::string allowed;
        for (const SchemaNode* schema : schemas) {
            for (const SchemaNode* value : allowed_values(document_->parts(document_->resolve(*schema)))) {
                const std::string literal = value->type == "null" ? "None" : literal_of(*value);
                if (literal.empty()) {
                    allowed.clear();
                    break;
                }
                allowed += literal + ", ";
            }
        }
        if (!allowed.empty()) {
            values += fmt::format("{}{}: ({})", values.empty() ? "" : ", ", string_literal(wire),
                                  allowed.substr(0, allowed.size() - 1));
        }
    }
    if (!required.empty()) {
        required.pop_back();
    }
    return fmt::format("_variant({}, ({}), {{{}}})", name, required, values);
}

} // namespace cellgate::wrappers
