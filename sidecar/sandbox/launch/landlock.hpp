#pragma once
// `landlock_version` is the version of Landlock, the kernel's restriction of files that a process takes upon itself.
// The helper in the sandbox does so where it is available (helper/landlock.hpp); elsewhere the mounts hold alone.

namespace cellgate::sandbox {

// The kernel's version of Landlock; 0 and errno where it has none.
int landlock_version();

// With version 1 (Linux 5.13 to 5.18) no file could be moved from one folder to another.
inline constexpr int oldest_landlock = 2;

// The first with scopes (Linux 6.12), without which a process could signal all others of its user.
inline constexpr int oldest_landlock_alone = 6;

inline bool has_landlock() {
    return landlock_version() >= oldest_landlock;
}

} // namespace cellgate::sandbox
