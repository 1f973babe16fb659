#pragma once
// `without_tilde` expands `~` at the beginning of a path that a user wrote where no shell expands it.

#include <map>
#include <string>

namespace cellgate::sandbox {

// "~" and "~/…" below HOME; any other path, and all where there is no HOME, as it is.
std::string without_tilde(const std::string& path, const std::map<std::string, std::string>& environment);

} // namespace cellgate::sandbox
