#pragma once
// `start_detached` starts this program again as a daemon: it outlives its starter, has its own session without a
// terminal, and is not a child of the starter (editors end all children of the processes that they started).

#include <string>
#include <vector>

namespace cellgate::async {

// Runs `<this program> WORDS…` in /, with stdin and stdout on /dev/null and no other descriptor but stderr. Returns,
// once it runs, the read end of its stderr, which is non-blocking and owned by the caller. Throws Error{internal_error}
// when it cannot be started.
int start_detached(const std::vector<std::string>& words);

} // namespace cellgate::async
