#pragma once
// `restrict_by_landlock` is a second layer beneath the sandbox's mounts: a path that they make writable by a mistake
// stays unwritable, and cells can neither trace nor signal the helper's processes. Landlock grants a folder as a whole
// and cannot except a file in it, so a protected file of the workspace is protected by its mount alone.

#include <string>
#include <vector>

namespace cellgate::helper {

// Restricts this process and all that it will start, for good. Files: everything below its root is read and executed
// (nothing outside, which a descriptor from there could reach), written only below the places of `writable` (absolute
// paths without links, each ended by a NUL) and in the devices of /dev; no device is made. From the kernel's version 5
// of Landlock on no other device is controlled (ioctl), from version 6 on no process outside is signalled and no
// abstract socket outside connected to. Connections by TCP are the network namespace's matter.
//
// Empty, or what went wrong; then nothing may run. Wants a kernel with version 2 of Landlock, and no_new_privs.
std::string restrict_by_landlock(const std::string& writable);

enum class LandlockRight { read, write, use_device, make_sockets };

struct LandlockGrant {
    std::string place; // absolute, without links
    LandlockRight right;
};

// For a sandbox without mounts: grants `grants` only, no connections by TCP, and needs a kernel that knows each of the
// restrictions (version 6). Each call restricts further.
std::string restrict_by_landlock_alone(const std::vector<LandlockGrant>& grants);

} // namespace cellgate::helper
