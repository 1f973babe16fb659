#pragma once
// `add_json` is the option --json: stdout has what the protocol's method answers, or a line of JSON for each entry, and
// nothing else. `print_json` prints a line where no method has one.

#include "base/json.hpp"

#include <CLI/CLI.hpp>

namespace cellgate::cli {

CLI::Option* add_json(CLI::App& command, bool& json);
// Of bytes that are not UTF-8, such as in a file's name, each becomes U+FFFD.
void print_json(const Json& value);

} // namespace cellgate::cli
