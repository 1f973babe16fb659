#pragma once
// `InstancePaths` is the set of paths of a workspace's sidecar: a folder in the runtime directory, accessible to this
// user only, with the lock and the sockets. The process that holds the lock (flock) is the workspace's sidecar; sockets
// without a lock holder are stale. A client's role is that of the socket that it connects to.

#include "base/environment.hpp"
#include "protocol/messages/lifecycle.hpp"

#include <string>

namespace cellgate::daemon {

struct InstancePaths {
    std::string workspace; // canonical
    std::string folder;
    std::string log; // of the sidecar, outside the folder: persistent

    std::string lock() const { return folder + "/lock"; }
    std::string socket(protocol::Role role) const;
};

// Makes the folders. Throws Error{config_invalid} for a workspace that is not a directory and for a runtime directory
// whose path is too long for sockets, Error{store_failed} for one that other users can access.
InstancePaths find_instance_paths(const std::string& workspace, const Environment& environment);

} // namespace cellgate::daemon
