#pragma once
// `serve_workspace` is the process of a workspace's sidecar, `cellgate workspace-sidecar`, which connect_to_workspace()
// starts detached. It listens on the workspace's two sockets, and ends when no client needs it or on SIGTERM.

#include "base/log.hpp"

#include <string>

namespace cellgate::daemon {

struct ServeWorkspaceOptions {
    std::string workspace;
    std::string trace_file; // empty: none
    LogLevel log_level = LogLevel::info;
};

// Runs a loop of its own to the end, and returns the exit code. If the lock is taken, it ends at once. If it cannot
// serve, it writes the reason to its stderr, as the text of a JSON-RPC error. Throws what find_instance_paths() does.
int serve_workspace(const ServeWorkspaceOptions& options);

} // namespace cellgate::daemon
