#pragma once
// A descriptor that is closed with its scope, unless it was released: for what must not leak while something is set up.

#include <unistd.h>
#include <utility>

namespace cellgate::async {

struct OwnedFd {
    int fd;
    OwnedFd(const OwnedFd&) = delete;
    OwnedFd& operator=(const OwnedFd&) = delete;
    explicit OwnedFd(int fd_) : fd(fd_) {}
    ~OwnedFd() {
        if (fd >= 0) {
            ::close(fd);
        }
    }
    int release() { return std::exchange(fd, -1); }
};

} // namespace cellgate::async
