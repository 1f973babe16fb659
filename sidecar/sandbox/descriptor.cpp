#include "sandbox/descriptor.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cellgate::sandbox {

Descriptor::~Descriptor() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

Descriptor anonymous_file(std::string_view content) {
    Descriptor file(::memfd_create("cellgate", MFD_CLOEXEC));
    if (file.get() < 0) {
        throw system_error(ErrorCode::internal_error, "cannot make an anonymous file", errno);
    }
    while (!content.empty()) {
        ssize_t written = ::write(file.get(), content.data(), content.size());
        if (written < 0 && errno != EINTR) {
            throw system_error(ErrorCode::internal_error, "cannot fill an anonymous file", errno);
        }
        content.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
    ::lseek(file.get(), 0, SEEK_SET);
    return file;
}

Descriptor read_file(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) {
        throw system_error(ErrorCode::internal_error, fmt::format("cannot open {}", path), errno);
    }
    return file;
}

Descriptor read_anew(int descriptor) {
    return read_file(fmt::format("/proc/self/fd/{}", descriptor));
}

} // namespace cellgate::sandbox
