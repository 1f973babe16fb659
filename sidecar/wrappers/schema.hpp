#pragma once
// A JSON Schema as a tree that keeps the order of properties and the text of numbers, with what the wrappers need to
// ask of it. The schema comes from a tool server: it is refused when it is too large to be honest, and every walk over
// it ends, whatever its references say.

#include "base/raw_json.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::wrappers {

struct SchemaMember;

struct SchemaNode {
    std::string_view text; // part of the document's
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

// All that a schema says about one value: itself, what it refers to and the parts of its allOf. Never empty; what comes
// first was nearer.
using SchemaParts = std::vector<const SchemaNode*>;

class SchemaDocument {
  public:
    // Throws Error{wrapper_failed} when the schema is beyond the limits.
    explicit SchemaDocument(RawJson schema);
    SchemaDocument(const SchemaDocument&) = delete;
    SchemaDocument& operator=(const SchemaDocument&) = delete;

    const SchemaNode& root() const { return root_; }
    // Follows references as long as they say all that there is; the last one may lead nowhere, then it stays.
    const SchemaNode& resolve(const SchemaNode& node) const;
    SchemaParts parts(const SchemaNode& node) const;
    // Everything that is done with the document spends steps. Throws Error{wrapper_failed} when it has cost more than
    // any honest one: a few references can ask for endless work.
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
