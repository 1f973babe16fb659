#pragma once
// `canonical_path` makes a path as the mount table has it: absolute, without symlinks.

#include "base/paths.hpp"

#include <map>
#include <string>
#include <string_view>

namespace cellgate::sandbox {

// The canonical form of an absolute, existing path. Every symlink on the way is noted in `links` (its path, its
// target), so that the path as it was given can be made to work elsewhere. Throws Error{config_invalid}; `what` names
// the path in it ("the workspace").
std::string canonical_path(const std::string& path, std::string_view what, std::map<std::string, std::string>& links);

} // namespace cellgate::sandbox
