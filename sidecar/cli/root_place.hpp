#pragma once
// Where the one sidecar of a root is found: a folder of its own in the runtime directory, which only this user can
// enter. Whoever holds the lock (flock) is the root's sidecar; sockets without a holder of the lock are stale. A
// client's role is that of the socket that it connected to.

#include "protocol/messages/lifecycle.hpp"
#include "sandbox/launcher.hpp"

#include <string>

namespace cellgate::cli {

struct RootPlace {
    std::string root; // canonical
    std::string folder;
    std::string log; // of the sidecar, outside the folder: it is kept

    std::string lock() const { return folder + "/lock"; }
    std::string socket(protocol::Role role) const;
};

// Makes the folders. Throws Error{config_invalid} for a root that is no directory and for a runtime directory whose
// name is too long for sockets, Error{store_failed} for one that is not this user's alone.
RootPlace find_root_place(const std::string& root, const sandbox::Environment& environment);

} // namespace cellgate::cli
