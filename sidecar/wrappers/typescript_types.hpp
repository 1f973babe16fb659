#pragma once
// `TypeScriptTypes` turns schemas into TypeScript types: expressions, and the interfaces that they name. A constraint
// that TypeScript cannot express makes the type wider, up to unknown, never narrower.

#include "python_text.hpp"
#include "schema_view.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cellgate::wrappers {

struct Property {
    std::string wire;
    std::string type;
    bool required;
    SchemaParts parts; // for its description
};

struct Interface {
    std::string name;
    std::string description;
    std::vector<Property> properties;
    bool open; // other properties are known to be allowed
};

class TypeScriptTypes {
  public:
    TypeScriptTypes();

    // Adds the interface Params and those that it needs. Throws Error{wrapper_failed} when it is not the schema of an
    // object.
    void add_params(const SchemaDocument& schema);
    // The type of Result: an interface of that name, or what an alias of that name stands for.
    std::string add_result(const SchemaDocument& schema);

    const std::vector<Interface>& interfaces() const { return interfaces_; }

  private:
    std::string type_of(const SchemaNode& given, const std::string& hint);
    std::string make(const SchemaNode& node, const std::string& hint);
    std::string of_json_type(const std::string& type, const SchemaNode& node, const SchemaParts& parts,
                             const std::string& hint);
    std::string array_type(const SchemaParts& parts, const std::string& hint);
    std::string object_type(const SchemaNode& node, const SchemaParts& parts, const std::string& hint);
    std::string interface_type(const SchemaNode& node, const SchemaParts& parts, const std::string& name,
                               const std::string& description);

    const SchemaDocument* document_ = nullptr;
    bool is_input_ = true;
    NameScope names_;
    std::vector<Interface> interfaces_;
    std::map<const SchemaNode*, std::string> known_;
    int depth_ = 0;
};

} // namespace cellgate::wrappers
