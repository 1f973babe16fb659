#pragma once
// Paths in arguments. What a tool server makes of a text that we take for a path is its own business: a text that some
// reader may understand otherwise (a leading ~, $, %, quotes, blanks at its ends, a scheme, a backslash) is `unclear`.
//
// Links are resolved when the rule is matched. Who can change links between then and the server's own look at the file
// (code in the sandbox can, in the workspace) may lead the server elsewhere: a rule on paths trusts the server to stay
// in its own folders, and is no boundary by itself.

#include "json_match.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cellgate::gate {

// The absolute path without links, "." and ".."; a relative one is taken from `root`. What is not there resolves to
// where it would be. Nothing when it cannot be told: no rights, a loop, ".." below what is not there, /proc.
std::optional<std::string> resolve_path(std::string_view path, std::string_view root);

// False for a text that some reader may not take for a plain path.
bool is_plain_path(std::string_view value);

// Whether a value of an argument is a path to `folder` or to something in it.
Match path_under(std::string_view value, std::string_view folder, std::string_view root);

// `*` covers anything but "/", `**` anything; every other character stands for itself. A value with a ".." component, a
// NUL, or of more than 16 KiB is `unclear`. Links are not looked at.
Match glob_match(std::string_view value, std::string_view pattern);

} // namespace cellgate::gate
