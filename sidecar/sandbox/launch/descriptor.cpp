#include "sandbox/descriptor.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>

namespace cellgate::sandbox {

UniqueFd read_file(const std::string& path) {
    UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) {
        throw system_error(ErrorCode::internal_error, fmt::format("cannot open {}", path), errno);
    }
    return file;
}

UniqueFd reopen_read_only(int descriptor) {
    return read_file(fmt::format("/proc/self/fd/{}", descriptor));
}

} // namespace cellgate::sandbox
