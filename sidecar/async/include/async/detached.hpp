#pragma once
// This program anew, as a process that nobody owns: it outlives who started it, has a session of its own and no
// terminal, and is no child of the starter (editors end all children of what they started).

#include <string>
#include <vector>

namespace cellgate::async {

// Runs `<this program> WORDS…` in /, with stdin and stdout on /dev/null and no other descriptor but stderr. Returns,
// once it runs, the reading end of its stderr, which does not block and is the caller's to close. Throws
// Error{internal_error} when it cannot be started.
int start_detached(const std::vector<std::string>& words);

} // namespace cellgate::async
