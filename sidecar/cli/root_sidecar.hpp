#pragma once
// The one sidecar of a root, as its clients find it. It is a process of its own that no client owns
// (`cellgate root-sidecar`, see serve_root.cpp).

#include "async/loop.hpp"
#include "async/stream.hpp"
#include "base/log.hpp"
#include "greeting.hpp"
#include "protocol/messages/lifecycle.hpp"
#include "root_place.hpp"

#include <memory>
#include <optional>
#include <string>

namespace cellgate::cli {

struct RootSidecarOptions {
    std::string root;
    protocol::Role role = protocol::Role::agent;
    Duration patience = std::chrono::seconds(20); // for it to answer, and to start before
    // Of a sidecar that is started; one that runs goes on as it is.
    std::string trace_file; // empty: none
    LogLevel log_level = LogLevel::info;
};

// A stream to the root's sidecar on which the protocol begins, with `Content-Length` headers. Starts the sidecar when
// there is none; two who do so at once get the same. A person whose cellgate is newer than the sidecar gets a new one,
// and the old one ends when its clients have gone and what runs there has ended; a warning in the log says so. Throws
// what find_root_place() does, at once the Error of a sidecar that cannot start, and Error{internal_error} when no
// sidecar answers, or one that is there does not.
Task<std::unique_ptr<async::UnixStream>> connect_to_root(async::Loop& loop, RootSidecarOptions options);

struct RootConnection {
    Greeting sidecar;                          // of one that is silent only the process
    bool silent = false;                       // it listens, and has not answered within the patience
    std::unique_ptr<async::UnixStream> stream; // nullptr when it is silent or leaving
};

// What is wrong with a silent one.
Error no_answer(const RootPlace& place, std::int64_t pid);

// To the sidecar that runs at this place; nothing when there is none.
Task<std::optional<RootConnection>> join_root(async::Loop& loop, RootPlace place, protocol::Role role,
                                              Duration patience);

} // namespace cellgate::cli
