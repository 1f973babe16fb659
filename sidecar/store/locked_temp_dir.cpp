#include "store/locked_temp_dir.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "store/directories.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <sys/stat.h>

namespace cellgate::store {

namespace {

namespace fs = std::filesystem;

void remove_stale(const std::string& parent, const std::string& prefix) {
    std::error_code error;
    for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
        if (!entry->path().filename().string().starts_with(prefix)) {
            continue;
        }
        const std::string path = entry->path();
        open_up_directory(path); // otherwise it could not be locked
        if (const DirectoryLock lock(path); lock.held()) {
            log_info("removing the directory of a sidecar that has ended: {}", path);
            remove_tree(path);
        }
    }
}

} // namespace

LockedTempDir make_locked_temp_dir(const std::string& parent, const std::string& prefix) {
    remove_stale(parent, prefix);
    // Before it is locked, another sidecar may take it for one left over from a crash.
    constexpr int max_tries = 10;
    constexpr std::size_t digits = 6; // the paths of sockets are short
    for (int tries = 0; tries < max_tries; ++tries) {
        LockedTempDir made;
        made.path = fmt::format("{}/{}{}", parent, prefix, random_id().substr(0, digits));
        made.cleanup = std::make_unique<async::CleanupRegistration>(async::CleanupKind::folder, made.path);
        if (::mkdir(made.path.c_str(), 0700) != 0) {
            if (errno == EEXIST) {
                continue;
            }
            throw system_error(ErrorCode::store_failed, fmt::format("cannot make a directory in {}", parent), errno);
        }
        made.lock = std::make_unique<DirectoryLock>(made.path);
        if (made.lock->held()) {
            return made;
        }
    }
    throw Error(
        ErrorCode::store_failed,
        fmt::format("a new directory in {} could not be locked: other processes keep removing or locking it", parent));
}

} // namespace cellgate::store
