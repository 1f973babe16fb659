#include "schema_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

namespace cellgate::wrappers {

namespace {

constexpr std::array<std::string_view, 6> constraints{"type", "enum", "const", "anyOf", "oneOf", "$ref"};
constexpr std::array<std::string_view, 4> object_keywords{"properties", "required", "additionalProperties",
                                                          "patternProperties"};

// Constraints of a schema that are not part of the type.
constexpr std::array<std::string_view, 12> facts{"default",   "format",           "pattern",          "minimum",
                                                 "maximum",   "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
                                                 "minLength", "maxLength",        "minItems",         "maxItems"};

// The descriptions of the values that the tool offers: `"kg" (Kilogram)`; "" if there are none.
std::string describe_choices(const SchemaNode& schema) {
    std::string out;
    for (const std::string_view keyword : {"anyOf", "oneOf"}) {
        const SchemaNode* alternatives = schema.find(keyword);
        if (alternatives == nullptr) {
            continue;
        }
        for (const SchemaNode& alternative : alternatives->elements) {
            const SchemaNode* value = alternative.find("const");
            const std::string title = alternative.string_member("title");
            const std::string text = title.empty() ? alternative.string_member("description") : title;
            if (value != nullptr && !text.empty()) {
                out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", value->text, text);
            }
        }
    }
    return out;
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

bool is_trivial(const SchemaDocument& document, const SchemaNode& given) {
    const SchemaParts parts = document.parts(document.resolve(given));
    return std::none_of(constraints.begin(), constraints.end(),
                        [&](std::string_view keyword) { return find_in(parts, keyword) != nullptr; }) &&
           json_types(parts).empty();
}

} // namespace

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

const std::vector<SchemaNode>* union_in(const SchemaDocument& document, const SchemaParts& parts) {
    const std::vector<SchemaNode>* alternatives = alternatives_in(parts);
    const bool is_union = alternatives != nullptr && find_in(parts, "properties") == nullptr &&
                          std::none_of(alternatives->begin(), alternatives->end(),
                                       [&](const SchemaNode& each) { return is_trivial(document, each); });
    return is_union ? alternatives : nullptr;
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

std::string described(const SchemaParts& parts, std::vector<std::string> notes) {
    std::set<std::string_view> noted;
    for (const SchemaNode* part : parts) {
        if (std::string choices = describe_choices(*part); !choices.empty()) {
            notes.push_back(std::move(choices));
        }
        for (const std::string_view fact : facts) {
            const SchemaNode* value = part->find(fact);
            if (value != nullptr && noted.insert(fact).second) {
                notes.push_back(fmt::format("{} {}", fact, value->text));
            }
        }
    }
    std::string text = description_of(parts);
    if (!notes.empty()) {
        text += fmt::format("{}[{}]", text.empty() ? "" : " ", fmt::join(notes, "; "));
    }
    return text;
}

ObjectView object_view(const SchemaDocument& document, const SchemaParts& parts) {
    ObjectView view;
    std::map<std::string_view, std::size_t> places; // of the properties in the view
    const auto add = [&](const SchemaNode& part, bool always) {
        if (const SchemaNode* properties = part.find("properties")) {
            document.spend(properties->members.size());
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
            for (const SchemaNode* part : document.parts(document.resolve(alternative))) {
                add(*part, false);
            }
        }
    }
    return view;
}

const SchemaNode* map_values(const ObjectView& view, const SchemaParts& parts) {
    const SchemaNode* patterns = find_in(parts, "patternProperties");
    if (view.additional == nullptr && patterns != nullptr && patterns->members.size() == 1 && view.closed) {
        return &patterns->members.front().value;
    }
    return view.additional;
}

ArrayView array_view(const SchemaParts& parts) {
    ArrayView view;
    view.items = find_in(parts, "items");
    view.prefix = find_in(parts, "prefixItems");
    const SchemaNode* rest = view.items;
    if (view.prefix == nullptr && view.items != nullptr && view.items->type == "array") {
        view.prefix = view.items;
        rest = find_in(parts, "additionalItems");
    }
    if (view.prefix != nullptr) {
        const std::size_t count = view.prefix->elements.size();
        view.items = nullptr;
        view.closed = (rest != nullptr && rest->is_false()) || says_number(parts, "maxItems", count);
        view.is_tuple = view.closed && count > 0 && says_number(parts, "minItems", count);
    }
    return view;
}

bool is_filled_in(const SchemaNode& root, std::string_view wire) {
    const SchemaNode* properties = root.find("properties");
    const SchemaNode* property = properties == nullptr ? nullptr : properties->find(wire);
    return property != nullptr && property->find("default") != nullptr && names_in(root.find("required"), wire);
}

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

const SchemaNode& params_root(const SchemaDocument& schema) {
    const SchemaNode& root = schema.resolve(schema.root());
    const std::vector<std::string> types = json_types(schema.parts(root));
    const bool takes_objects = types.empty() || std::find(types.begin(), types.end(), "object") != types.end();
    if (!root.is_object() || !takes_objects) {
        throw Error(ErrorCode::wrapper_failed, "inputSchema is not the schema of an object");
    }
    return root;
}

void append_once(std::vector<std::string>& list, const std::string& item) {
    if (std::find(list.begin(), list.end(), item) == list.end()) {
        list.push_back(item);
    }
}

} // namespace cellgate::wrappers
