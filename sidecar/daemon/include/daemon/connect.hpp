#pragma once
// `connect_to_workspace` is the way to the workspace's sidecar: a process of its own that no client owns (`cellgate
// workspace-sidecar`, see daemon/serve_workspace.hpp). It is started if necessary.

#include "async/loop.hpp"
#include "async/stream.hpp"
#include "base/log.hpp"
#include "daemon/handshake.hpp"
#include "daemon/instance_paths.hpp"
#include "protocol/messages/lifecycle.hpp"

#include <memory>
#include <optional>
#include <string>

namespace cellgate::daemon {

struct WorkspaceSidecarOptions {
    std::string workspace;
    protocol::Role role = protocol::Role::agent;
    Duration timeout = std::chrono::seconds(20); // for its start and its answer
    // Only for a sidecar that is started; a running one keeps its own.
    std::string trace_file; // empty: none
    LogLevel log_level = LogLevel::info;
};

// A stream to the workspace's sidecar after the handshake, with `Content-Length` headers. Starts the sidecar if there
// is none; concurrent callers get the same one. A user whose cellgate is newer than the sidecar gets a new one, and the
// old one ends when its clients have left and its executions have ended; it logs a warning. Throws what
// find_instance_paths() does, the Error of a sidecar that cannot start without waiting for the timeout, and
// Error{internal_error} if no sidecar answers.
Task<std::unique_ptr<async::UnixStream>> connect_to_workspace(async::Loop& loop, WorkspaceSidecarOptions options);

struct SidecarConnection {
    Handshake sidecar;                         // only the pid if it is silent
    bool silent = false;                       // it listens, but did not answer within the timeout
    std::unique_ptr<async::UnixStream> stream; // nullptr if it is silent or leaving
};

// The error for a silent sidecar.
Error no_answer(const InstancePaths& paths, std::int64_t pid);

// Connects to the running sidecar; nothing if there is none.
Task<std::optional<SidecarConnection>> join_workspace(async::Loop& loop, InstancePaths paths, protocol::Role role,
                                                      Duration timeout);

} // namespace cellgate::daemon
