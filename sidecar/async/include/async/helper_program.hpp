#pragma once
// `helper_program` is the executable `cellgate-helper` (sidecar/helper), embedded in this program and started from
// memory. It therefore always matches this build, even after an upgrade has replaced the files on disk.

namespace cellgate::async {

// A descriptor of it, which stays open; /proc/self/fd/N is its path. Throws Error{internal_error}.
int helper_program();

} // namespace cellgate::async
