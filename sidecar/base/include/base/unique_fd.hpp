#pragma once
// `UniqueFd` is a file descriptor with one owner, which closes it. A negative number means none. Header-only, so that
// the static helper program has it too.

#include <unistd.h>
#include <utility>

namespace cellgate {

class UniqueFd {
  public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) : fd_(fd) {}
    UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept {
        reset(other.release());
        return *this;
    }
    ~UniqueFd() { reset(); }

    int get() const { return fd_; }
    bool valid() const { return fd_ >= 0; }
    // The caller owns it now.
    int release() { return std::exchange(fd_, -1); }
    void reset(int fd = -1) {
        if (const int old = std::exchange(fd_, fd); old >= 0) {
            ::close(old);
        }
    }

  private:
    int fd_ = -1;
};

} // namespace cellgate
