#pragma once
// `TypeBuilder` turns schemas into Python types: annotations, the classes that they name, and the readers that make
// typed values of plain ones. A constraint that Python cannot express makes the type wider, up to Any, never narrower:
// a type checker must not forbid a valid call.

#include "python_text.hpp"
#include "schema_view.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cellgate::wrappers {

struct PythonType {
    std::string annotation = "Any";
    std::string reader;  // an expression; empty if plain values need no conversion
    std::string variant; // the reader inside a union, if different: it accepts only matching values
    bool takes_null = false;
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
    std::optional<PythonType> extra; // of additional properties; nullopt if the schema allows none
    bool is_input;                   // callers create it; others are only read
};

class TypeBuilder {
  public:
    // Class names avoid `taken`.
    explicit TypeBuilder(std::set<std::string> taken);

    // Adds the class Params and the classes that it needs. Throws Error{wrapper_failed} when it is not the schema of an
    // object.
    void add_params(const SchemaDocument& schema);
    // The type of Result: a class of that name, or the target of an alias of that name.
    PythonType add_result(const SchemaDocument& schema);

    // A class comes before those that have fields of it, unless they refer to each other.
    const std::vector<Class>& classes() const { return classes_; }

  private:
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
    std::string variant_reader(const ObjectView& view, const std::string& name) const;

    const SchemaDocument* document_ = nullptr;
    bool is_input_ = true;
    NameScope names_;
    std::vector<Class> classes_;
    std::map<const SchemaNode*, PythonType> known_;
    std::map<std::string, PythonType, std::less<>> input_types_; // by the schema's text
    int depth_ = 0;
};

// Names that annotations and __init__ use, which classes and fields must not shadow.
const std::set<std::string>& reserved_names();

} // namespace cellgate::wrappers
