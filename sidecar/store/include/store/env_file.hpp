#pragma once
// `env_file_value` reads a file of NAME=value lines, as `.env` is: comments from a `#` at the beginning of a line or
// after a blank, `export ` before a name, a value in single quotes as it is, one in double quotes with \n, \r, \t, \"
// and \\. A quoted value may have several lines. No variable is put in.

#include <optional>
#include <string>
#include <string_view>

namespace cellgate::store {

// The last value of that name; nothing if the text has none.
std::optional<std::string> env_file_value(std::string_view text, std::string_view name);

} // namespace cellgate::store
