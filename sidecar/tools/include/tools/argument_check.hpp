#pragma once
// `check_arguments` is the check of a call's arguments against the tool's schema. It refuses only what is certainly
// wrong: a keyword that is not known, a pattern, a format or a reference elsewhere passes, and the server judges the
// rest. Numbers are compared as they are written, of any size. Hostile schemas cost a bounded time, after which the
// arguments pass.

#include "base/json_value.hpp"
#include "base/raw_json.hpp"

#include <optional>
#include <string>

namespace cellgate::tools {

// "arguments.path: expected a string, found 5", or nothing.
std::optional<std::string> check_arguments(const RawJson& schema, const RawJson& arguments);

// The same for any value, called `path`.
std::optional<std::string> check_document(const RawJson& schema, const RawJson& value, const std::string& path);

// The same for a value at `path`, by `schema`, which is a part of `root`, to which references are.
std::optional<std::string> check_value(const JsonValue& root, const JsonValue& schema, const JsonValue& value,
                                       const std::string& path);

} // namespace cellgate::tools
