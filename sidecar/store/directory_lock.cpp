#include "store/directory_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::store {

namespace {

bool is_ours_at(int fd, const std::string& path) {
    struct stat locked{};
    struct stat named{};
    return ::fstat(fd, &locked) == 0 && ::lstat(path.c_str(), &named) == 0 && locked.st_dev == named.st_dev &&
           locked.st_ino == named.st_ino && locked.st_uid == ::geteuid();
}

} // namespace

DirectoryLock::DirectoryLock(const std::string& path)
    : directory_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) {
    const int fd = directory_.get();
    if (held() && (::flock(fd, LOCK_EX | LOCK_NB) != 0 || !is_ours_at(fd, path))) {
        directory_.reset();
    }
}

} // namespace cellgate::store
