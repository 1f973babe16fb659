#pragma once
// Schemas as Python types: annotations, the classes that they name, and the readers that make typed values of plain
// ones. What a schema says beyond what Python can express becomes wider, up to Any, never narrower: a type checker
// must not forbid what the tool allows.

#include "python_text.hpp"
#include "schema.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cellgate::wrappers {

struct PythonType {
    std::string annotation = "Any";
    std::string reader;  // an expression, empty when plain values are the typed ones
    std::string variant; // the reader to use beside others, when it differs: it takes only what fits
};

struct Field {
    std::string wire;
    std::string name;
    PythonType type;
    bool required;
    SchemaParts parts; // for its description
};

struct Class {
    std::string name;
    std::string description;
    std::vector<Field> fields;
    std::optional<PythonType> extra; // of properties without a name; nullopt when the schema allows none
    bool is_input;                   // made by callers, too; others are only read
};

class TypeBuilder {
  public:
    // Class names will be none of `taken`.
    explicit TypeBuilder(std::set<std::string> taken);

    // Adds the class Params and those that it needs. Throws Error{wrapper_failed} when it is no schema of an object.
    void add_params(const SchemaDocument& schema);
    // The type called Result: a class of that name, or what an alias of that name stands for.
    PythonType add_result(const SchemaDocument& schema);

    // A class stands before those that have fields of it, as far as they do not refer to each other.
    const std::vector<Class>& classes() const { return classes_; }

  private:
    struct ObjectView {
        std::vector<std::pair<std::string, SchemaParts>> properties;
        std::set<std::string> required;
        const SchemaNode* additional = nullptr;
        bool closed = false; // nothing beyond the properties
    };

    PythonType type_of(const SchemaNode& given, const std::string& hint);
    PythonType make(const SchemaNode& node, const std::string& hint);
    PythonType of_json_type(const std::string& type, const SchemaNode& node, const SchemaParts& parts,
                            const std::string& hint);
    PythonType array_type(const SchemaParts& parts, const std::string& hint);
    PythonType object_type(const SchemaNode& node, const SchemaParts& parts, const std::string& hint);
    PythonType class_type(const SchemaNode& node, const ObjectView& view, const std::string& name,
                          const std::string& description);
    PythonType either(const std::vector<PythonType>& types) const;
    PythonType union_of(const std::vector<SchemaNode>& alternatives, const std::string& hint);
    ObjectView object_view(const SchemaParts& parts) const;
    std::string variant_reader(const ObjectView& view, const std::string& name) const;
    bool is_trivial(const SchemaNode& node) const;

    const SchemaDocument* document_ = nullptr;
    bool is_input_ = true;
    NameScope names_;
    std::vector<Class> classes_;
    std::map<const SchemaNode*, PythonType> known_;
    std::map<std::string, PythonType, std::less<>> input_types_; // by the schema's text
    int depth_ = 0;
};

// What the classes call themselves and their fields must not hide: names that annotations and __init__ use.
const std::set<std::string>& reserved_names();

} // namespace cellgate::wrappers
