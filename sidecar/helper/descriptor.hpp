#pragma once
// A file descriptor with one owner, closed with it.

#include <unistd.h>
#include <utility>
#include <vector>

namespace cellgate::helper {

class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }
    int get() const { return fd_; }

  private:
    int fd_ = -1;
};

// From `first` on; numbers below 0 are none. False with errno when the system cannot.
bool close_all_but(std::vector<int> keep, int first);

} // namespace cellgate::helper
