#pragma once
// `Isolation` is the kind of a sandbox. Only a user can choose another one than bubblewrap's.

namespace cellgate::sandbox {

enum class Isolation {
    bwrap,    // bubblewrap: namespaces, allow-listed mounts, no capabilities
    landlock, // Landlock and filters of system calls, without namespaces: weaker, and a user's choice (limitations.hpp)
    none,     // everything that the user can do
};

} // namespace cellgate::sandbox
