#pragma once
// `relay_stdio` is the work of `cellgate connect`, the program that editors start: it carries bytes between stdin and
// stdout and the workspace's sidecar, which it starts if there is none and which outlives it.

#include "daemon/connect.hpp"

namespace cellgate::daemon {

// Until both directions have ended; `exit_code` is 0 if the client sent `exit`. Throws what connect_to_workspace()
// does, after answering the client's first request with it: an editor shows that to its user.
Task<void> relay_stdio(async::Loop* loop, WorkspaceSidecarOptions options, int* exit_code);

} // namespace cellgate::daemon
