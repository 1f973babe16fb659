#pragma once
// `landlock_limitations` is the list of what the landlock launcher's sandbox lacks compared with bubblewrap's: for
// users to read before they choose it. SECURITY.md describes each.

#include <string>
#include <vector>

namespace cellgate::sandbox {

std::vector<std::string> landlock_limitations();

} // namespace cellgate::sandbox
