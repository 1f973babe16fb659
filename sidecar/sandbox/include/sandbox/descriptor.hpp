#pragma once
// A file descriptor with one owner, closed with it.

#include <string>
#include <string_view>
#include <utility>

namespace cellgate::sandbox {

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor();

    int get() const { return fd_; }

  private:
    int fd_;
};

// An unnamed file in memory that holds `content`, to be read once from its start. Throws Error{internal_error}.
Descriptor anonymous_file(std::string_view content);

// The file of that name, to be read from its start. Throws Error{internal_error}.
Descriptor read_file(const std::string& path);

// The file that `descriptor` is open at, to be read from its start, whoever else reads it. Throws
// Error{internal_error}.
Descriptor read_anew(int descriptor);

} // namespace cellgate::sandbox
