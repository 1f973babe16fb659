#pragma once
// `SchemaDocument` is a JSON Schema as a tree that keeps the order of properties and the text of numbers. The schema
// comes from a tool server: a schema over the size limits is refused, and every walk over it ends, whatever its
// references are.

#include "base/raw_json.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::wrappers {

struct SchemaMember;

struct SchemaNode {
    std::string_view text; // a slice of the document's text
    std::string_view type; // of the JSON value
    std::vector<SchemaMember> members;
    std::vector<SchemaNode> elements;

    const SchemaNode* find(std::string_view name) const;
    bool is_object() const { return type == "object"; }
    bool is_true() const { return text == "true"; }
    bool is_false() const { return text == "false"; }
    // The value of a member that is a string, or "".
    std::string string_member(std::string_view name) const;
};

struct SchemaMember {
    std::string name;
    SchemaNode value;
};

// All schemas of one value: the schema itself, its reference targets and the parts of its allOf. Never empty; the
// closest come first.
using SchemaParts = std::vector<const SchemaNode*>;

class SchemaDocument {
  public:
    // Throws Error{wrapper_failed} when the schema is beyond the limits.
    explicit SchemaDocument(RawJson schema);
    SchemaDocument(const SchemaDocument&) = delete;
    SchemaDocument& operator=(const SchemaDocument&) = delete;

    const SchemaNode& root() const { return root_; }
    // Follows references that have no other members; an unresolvable one is returned itself.
    const SchemaNode& resolve(const SchemaNode& node) const;
    SchemaParts parts(const SchemaNode& node) const;
    // Every operation on the document spends steps. Throws Error{wrapper_failed} above the limit: a few references can
    // cause endless work.
    void spend(std::size_t steps) const;

  private:
    const SchemaNode* target(const SchemaNode& reference) const;
    void collect(const SchemaNode& node, SchemaParts& parts) const;
    void collect_anchors(const SchemaNode& node);

    RawJson text_;
    SchemaNode root_;
    std::map<std::string, const SchemaNode*, std::less<>> anchors_;
    mutable std::size_t spent_ = 0;
};

// The first part's member of this name, or null.
const SchemaNode* find_in(const SchemaParts& parts, std::string_view name);

// Every name under "properties" anywhere in the schema.
void collect_property_names(const SchemaNode& node, std::set<std::string>& names);

} // namespace cellgate::wrappers
