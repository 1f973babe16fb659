#pragma once
// path_under() and glob_match() decide whether an argument, read as a path, is within a rule's folder or pattern. Each
// tool server interprets an argument in its own way: a text that some reader may not take for a plain path (a leading
// ~, $, %, quotes, blanks at its ends, a scheme, a backslash) is `unclear`.

#include "match.hpp"
#include "paths.hpp"

#include <string_view>

namespace cellgate::gate {

// False for a text that some reader may not take for a plain path.
bool is_plain_path(std::string_view value);

// The key of a path in `paths`.
std::string absolute_path(std::string_view path, const PathSnapshot& paths);

// Whether a value of an argument is a path to `folder` or to something in it. `unclear` while paths are unresolved.
Match path_under(std::string_view value, std::string_view folder, PathSnapshot& paths);

// `*` covers anything but "/", `**` anything; every other character stands for itself. A value with a ".." component, a
// NUL, or of more than 16 KiB is `unclear`. Links are not looked at.
Match glob_match(std::string_view value, std::string_view pattern);

} // namespace cellgate::gate
