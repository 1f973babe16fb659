#pragma once
// `Profile` is what one kernel or tool server may see and use.

#include "sandbox/image.hpp"
#include "sandbox/limits.hpp"
#include "sandbox/settings.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cellgate::sandbox {

// Where programs in a sandbox find the way to the network, if there is one: on 127.0.0.1 of the sandbox.
inline constexpr int proxy_port = 3128;
// The first of the ports, also there, of a kernel that has no unix sockets; one for each of its channels.
inline constexpr int first_kernel_port = 31281;
inline constexpr int last_kernel_port = first_kernel_port + 4;

// Paths are absolute, exist, and may go through symlinks.
struct Profile {
    std::string workspace;       // read-write at its own path, save for its protected files (protected_files.hpp)
    bool shows_workspace = true; // else nothing of it is there
    std::string session_dir;     // 0700 and ours: the kernel's sockets, read-write at its own path
    std::vector<std::string> read_only; // interpreter prefixes, the bootstrap: read-only wherever they are
    std::vector<std::string> hidden;    // the sidecar's own directories: a profile that would show one is refused
    Limits limits;
    std::string proxy; // a unix socket in session_dir that proxy_port is connected to; empty: no network
    std::vector<std::string> allowed_hosts; // by rules, as HostPatterns; its loopback's ports are relayed (relays.hpp)
    // Of a kernel with those ports: what the paths of the unix sockets in session_dir begin with that reach them.
    std::string kernel_sockets;
    std::string packages; // of these, the one folder that is shown, read-only; empty: none
    // It is shown as /node_modules, where Deno and Node look last, with the package.json that Deno needs beside it;
    // else at its own path.
    bool node_modules = false;
    std::shared_ptr<const Settings> settings = nullptr; // a user's, if there are some
    std::shared_ptr<const Image> image = nullptr;       // its system; nullptr: the machine's
};

} // namespace cellgate::sandbox
