#pragma once
// `LockedTempDir` is a directory for one live object, such as one start of a kernel, locked for as long. It is removed
// when this process ends (async/cleanup_registration.hpp). If even that failed, for example because all processes of
// the machine were killed, the next maker of such a directory removes it: an unlocked directory with the prefix is left
// over from a crash.
//
// All directories with the prefix must be made by this function.

#include "async/cleanup_registration.hpp"
#include "store/directory_lock.hpp"

#include <memory>
#include <string>

namespace cellgate::store {

struct LockedTempDir {
    std::string path;
    // Kept until the directory is removed.
    std::unique_ptr<async::CleanupRegistration> cleanup = {};
    std::unique_ptr<DirectoryLock> lock = {};
};

// Makes a new directory "<parent>/<prefix>XXXXXX", 0700; only this user may be able to write `parent`. First removes
// all directories there with this prefix that belong to this user and are not locked. Slow: run it with run_blocking.
LockedTempDir make_locked_temp_dir(const std::string& parent, const std::string& prefix);

} // namespace cellgate::store
