#pragma once
// `ObjectView` is how a schema describes an object, `ArrayView` a list, in whatever language their types are written;
// the functions are about other values. `parts` are SchemaDocument::parts() of a node that resolve() gave.

#include "schema.hpp"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cellgate::wrappers {

// The values allowed by an enum or a const; empty if there is neither.
std::vector<const SchemaNode*> allowed_values(const SchemaParts& parts);

// Those of anyOf or oneOf; nullptr if there are none.
const std::vector<SchemaNode>* alternatives_in(const SchemaParts& parts);
// Those that the type is a union of; nullptr where they only add to properties, or one of them says nothing.
const std::vector<SchemaNode>* union_in(const SchemaDocument& document, const SchemaParts& parts);

// "string", "integer", …; "" for one that is no text. Also what other keywords say; empty if nothing is known.
std::vector<std::string> json_types(const SchemaParts& parts);

std::string description_of(const SchemaParts& parts);
// The description, and in brackets `notes` and what the type does not say: offered values, limits, the default.
std::string described(const SchemaParts& parts, std::vector<std::string> notes);

// The properties of an object: those of all its parts and, as optional ones, those of its alternatives.
struct ObjectView {
    std::vector<std::pair<std::string, SchemaParts>> properties;
    std::set<std::string> required;
    const SchemaNode* additional = nullptr;
    bool closed = false; // no additional properties
};
ObjectView object_view(const SchemaDocument& document, const SchemaParts& parts);
// The schema of all values of an object without properties of its own; nullptr if nothing is known.
const SchemaNode* map_values(const ObjectView& view, const SchemaParts& parts);

// The items of a list: all alike, or first those of `prefix`, each by itself.
struct ArrayView {
    const SchemaNode* items = nullptr;  // without a prefix; nullptr if nothing is known
    const SchemaNode* prefix = nullptr; // its elements are schemas
    bool closed = false;                // there are no items behind the prefix
    bool is_tuple = false;              // exactly the prefix
};
ArrayView array_view(const SchemaParts& parts);

// Whether a caller may leave the property out because the sidecar puts its default in (tools/default_arguments.hpp).
bool is_filled_in(const SchemaNode& root, std::string_view wire);

// The singular of a name: entities, entity.
std::string singular(const std::string& name);
// The name of the definition that a node refers to, or `otherwise`.
std::string definition_name(const SchemaNode& node, const std::string& otherwise);

// The object that a tool's arguments are. Throws Error{wrapper_failed} when the schema is of something else.
const SchemaNode& params_root(const SchemaDocument& schema);

void append_once(std::vector<std::string>& list, const std::string& item);

} // namespace cellgate::wrappers
