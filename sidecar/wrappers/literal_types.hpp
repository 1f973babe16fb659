#pragma once
// `one_of_values` is the Python type of a schema's fixed values: a Literal where Python can express them all, else the
// union of their types.

#include "types.hpp"

#include <string>
#include <vector>

namespace cellgate::wrappers {

// Any if there are no values.
PythonType one_of_values(const std::vector<const SchemaNode*>& values);

// Python's text of a value; "" if the value cannot be part of a Literal.
std::string literal_of(const SchemaNode& value);

// The annotation for a value of any of `members`. There must be at least one.
std::string union_annotation(const std::vector<std::string>& members);

} // namespace cellgate::wrappers
