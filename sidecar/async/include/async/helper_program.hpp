#pragma once
// The program `cellgate-helper` (sidecar/helper), which this one carries: it is started from memory, so that it is
// always the one that was built with this program, also after an upgrade has replaced the files.

namespace cellgate::async {

// A descriptor of it, which stays open; /proc/self/fd/N is its path. Throws Error{internal_error}.
int helper_program();

} // namespace cellgate::async
