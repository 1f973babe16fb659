#pragma once
// What a sandbox by the landlock launcher lacks of one by bubblewrap: for users to read before they choose it.
// SECURITY.md says more of each.

#include <string>
#include <vector>

namespace cellgate::sandbox {

std::vector<std::string> landlock_lacks();

} // namespace cellgate::sandbox
