#include "base/regular_file.hpp"

#include "base/unique_fd.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate {

namespace {

constexpr std::size_t min_buffer_bytes = 65536;

} // namespace

RegularFile read_regular_file(const std::string& path, std::size_t max_bytes, LastLink link) {
    RegularFile file;
    const int refused = link == LastLink::refuse ? O_NOFOLLOW : 0;
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | refused));
    struct stat status{};
    if (!fd.valid() || ::fstat(fd.get(), &status) != 0) {
        file.error = errno;
    } else if (!S_ISREG(status.st_mode)) {
        file.error = EINVAL;
    }
    file.size = static_cast<std::uint64_t>(status.st_size);
    // The size is no more than a hint: files of /proc say 0, and others grow.
    std::size_t room = std::max(static_cast<std::size_t>(status.st_size) + 1, min_buffer_bytes);
    std::size_t size = 0;
    while (file.error == 0 && size < max_bytes) {
        file.bytes.resize(std::min(max_bytes, size + room));
        const ssize_t count = ::read(fd.get(), file.bytes.data() + size, file.bytes.size() - size);
        if (count == 0) {
            break;
        }
        if (count > 0) {
            size += static_cast<std::size_t>(count);
        } else if (errno != EINTR) {
            file.error = errno;
        }
    }
    file.bytes.resize(file.error == 0 ? size : 0);
    return file;
}

} // namespace cellgate
