#include "store/directory_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace cellgate::store {

DirectoryLock::DirectoryLock(const std::string& path)
    : fd_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) {
    if (fd_ >= 0 && ::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
        ::close(std::exchange(fd_, -1));
    }
}

// The lock ends with the descriptor.
DirectoryLock::~DirectoryLock() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

} // namespace cellgate::store
