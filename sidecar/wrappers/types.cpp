#include "types.hpp"

#include "literal_types.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace cellgate::wrappers {

namespace {

constexpr std::size_t steps_of_a_type = 200;
constexpr int max_type_depth = 100;
constexpr std::size_t max_expression = 20'000;

constexpr std::array<std::string_view, 6> constraints{"type", "enum", "const", "anyOf", "oneOf", "$ref"};
constexpr std::array<std::string_view, 4> object_keywords{"properties", "required", "additionalProperties",
                                                          "patternProperties"};

// The values allowed by an enum or a const; empty if there is neither.
std::vector<const SchemaNode*> allowed_values(const SchemaParts& parts) {
    if (const SchemaNode* value = find_in(parts, "const")) {
        return {value};
    }
    std::vector<const SchemaNode*> values;
    if (const SchemaNode* list = find_in(parts, "enum")) {
        for (const SchemaNode& value : list->elements) {
            values.push_back(&value);
        }
    }
    return values;
}

const std::vector<SchemaNode>* alternatives_in(const SchemaParts& parts) {
    for (const std::string_view keyword : {"anyOf", "oneOf"}) {
        const SchemaNode* list = find_in(parts, keyword);
        if (list != nullptr && !list->elements.empty()) {
            return &list->elements;
        }
    }
    return nullptr;
}

std::vector<std::string> json_types(const SchemaParts& parts) {
    std::vector<std::string> types;
    if (const SchemaNode* type = find_in(parts, "type")) {
        if (type->type == "string") {
            types.push_back(decode_json_string(type->text));
        }
        for (const SchemaNode& each : type->elements) {
            append_once(types, each.type == "string" ? decode_json_string(each.text) : "");
        }
    } else if (std::any_of(object_keywords.begin(), object_keywords.end(),
                           [&](std::string_view keyword) { return find_in(parts, keyword) != nullptr; })) {
        types.emplace_back("object");
    } else if (find_in(parts, "items") != nullptr || find_in(parts, "prefixItems") != nullptr) {
        types.emplace_back("array");
    }
    const SchemaNode* nullable = find_in(parts, "nullable"); // as OpenAPI has it
    if (nullable != nullptr && nullable->is_true() && !types.empty()) {
        append_once(types, "null");
    }
    return types;
}

std::string description_of(const SchemaParts& parts) {
    for (const SchemaNode* part : parts) {
        if (std::string description = part->string_member("description"); !description.empty()) {
            return description;
        }
    }
    return "";
}

// The singular of a name: entities, entity.
std::string singular(const std::string& name) {
    if (name.size() > 3 && name.ends_with("ies")) {
        return name.substr(0, name.size() - 3) + 'y';
    }
    if (name.size() > 2 && name.ends_with('s') && !name.ends_with("ss")) {
        return name.substr(0, name.size() - 1);
    }
    return name + "_item";
}

std::string definition_name(const SchemaNode& node, const std::string& otherwise) {
    const std::string uri = node.string_member("$ref");
    for (const std::string_view place : {"#/$defs/", "#/definitions/"}) {
        if (uri.starts_with(place)) {
            return uri.substr(place.size());
        }
    }
    return otherwise;
}

bool says_number(const SchemaParts& parts, std::string_view keyword, std::size_t number) {
    const SchemaNode* value = find_in(parts, keyword);
    return value != nullptr && value->text == std::to_string(number);
}

bool names_in(const SchemaNode* list, std::string_view name) {
    return list != nullptr && std::any_of(list->elements.begin(), list->elements.end(), [&](const SchemaNode& each) {
               return each.type == "string" && decode_json_string(each.text) == name;
           });
}

// Whether the sidecar puts in the default when the caller leaves the argument out (tools/default_arguments.hpp).
bool is_filled_in(const SchemaNode& root, std::string_view wire) {
    const SchemaNode* properties = root.find("properties");
    const SchemaNode* property = properties == nullptr ? nullptr : properties->find(wire);
    return property != nullptr && property->find("default") != nullptr && names_in(root.find("required"), wire);
}

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
    const SchemaNode& root = schema.resolve(schema.root());
    const SchemaParts parts = schema.parts(root);
    const std::vector<std::string> types = json_types(parts);
    const bool takes_objects = types.empty() || std::find(types.begin(), types.end(), "object") != types.end();
    if (!root.is_object() || !takes_objects) {
        throw Error(ErrorCode::wrapper_failed, "inputSchema is not the schema of an object");
    }
    class_type(root, object_view(parts), "Params", "");
}

PythonType TypeBuilder::add_result(const SchemaDocument& schema) {
    document_ = &schema;
    is_input_ = false;
    const SchemaNode& root = schema.resolve(schema.root());
    const SchemaParts parts = schema.parts(root);
    const ObjectView view = object_view(parts);
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
    const std::vector<SchemaNode>* alternatives = alternatives_in(parts);
    if (alternatives != nullptr && find_in(parts, "properties") == nullptr &&
        std::none_of(alternatives->begin(), alternatives->end(),
                     [&](const SchemaNode& alternative) { return is_trivial(alternative); })) {
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
    const SchemaNode* items = find_in(parts, "items");
    const SchemaNode* prefix = find_in(parts, "prefixItems");
    const SchemaNode* rest = items;
    if (prefix == nullptr && items != nullptr && items->type == "array") {
        prefix = items;
        rest = find_in(parts, "additionalItems");
    }
    PythonType item;
    if (prefix != nullptr) {
        const std::size_t count = prefix->elements.size();
        std::vector<PythonType> types;
        for (const SchemaNode& each : prefix->elements) {
            types.push_back(type_of(each, singular(hint)));
        }
        const bool closed = (rest != nullptr && rest->is_false()) || says_number(parts, "maxItems", count);
        if (closed && count > 0 && says_number(parts, "minItems", count)) {
            std::vector<std::string> annotations;
            std::vector<std::string> readers;
            for (const PythonType& type : types) {
                annotations.push_back(type.annotation);
                readers.push_back(reader_argument(type));
            }
            return {fmt::format("Tuple[{}]", fmt::join(annotations, ", ")),
                    fmt::format("_tuple_of({})", fmt::join(readers, ", ")), ""};
        }
        item = closed ? either(types) : PythonType{};
    } else if (items != nullptr) {
        item = type_of(*items, singular(hint));
    }
    // A list of dicts is no List of a Union, as lists can be changed.
    const std::string_view kind = is_input_ && !item.reader.empty() ? "Sequence" : "List";
    return {fmt::format("{}[{}]", kind, item.annotation),
            item.reader.empty() ? "" : fmt::format("_list_of({})", item.reader), ""};
}

PythonType TypeBuilder::object_type(const SchemaNode& node, const SchemaParts& parts, const std::string& hint) {
    const ObjectView view = object_view(parts);
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
    const SchemaNode* values = view.additional;
    if (const SchemaNode* patterns = find_in(parts, "patternProperties");
        values == nullptr && patterns != nullptr && patterns->members.size() == 1 && view.closed) {
        values = &patterns->members.front().value;
    }
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

// The properties of an object: those of all its parts and, as optional ones, those of its alternatives.
TypeBuilder::ObjectView TypeBuilder::object_view(const SchemaParts& parts) const {
    ObjectView view;
    std::map<std::string_view, std::size_t> places; // of the properties in the view
    const auto add = [&](const SchemaNode& part, bool always) {
        if (const SchemaNode* properties = part.find("properties")) {
            document_->spend(properties->members.size());
            for (const auto& [wire, schema] : properties->members) {
                if (schema.is_false()) {
                    continue; // a property that must not be there
                }
                const auto [place, is_new] = places.emplace(wire, view.properties.size());
                if (is_new) {
                    view.properties.push_back({wire, {&schema}});
                } else {
                    view.properties[place->second].second.push_back(&schema);
                }
            }
        }
        if (const SchemaNode* required = part.find("required"); required != nullptr && always) {
            for (const SchemaNode& name : required->elements) {
                if (name.type == "string") {
                    view.required.insert(decode_json_string(name.text));
                }
            }
        }
        for (const std::string_view keyword : {"additionalProperties", "unevaluatedProperties"}) {
            const SchemaNode* additional = part.find(keyword);
            if (additional != nullptr && additional->is_false()) {
                view.closed = true;
            } else if (additional != nullptr && additional->is_object() && view.additional == nullptr) {
                view.additional = additional;
            }
        }
    };
    for (const SchemaNode* part : parts) {
        add(*part, true);
    }
    if (const std::vector<SchemaNode>* alternatives = alternatives_in(parts)) {
        for (const SchemaNode& alternative : *alternatives) {
            for (const SchemaNode* part : document_->parts(document_->resolve(alternative))) {
                add(*part, false);
            }
        }
    }
    return view;
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

bool TypeBuilder::is_trivial(const SchemaNode& given) const {
    const SchemaParts parts = document_->parts(document_->resolve(given));
    return std::none_of(constraints.begin(), constraints.end(),
                        [&](std::string_view keyword) { return find_in(parts, keyword) != nullptr; }) &&
           json_types(parts).empty();
}

} // namespace cellgate::wrappers
