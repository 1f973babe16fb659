#include "base/files.hpp"

#include "base/error.hpp"
#include "base/names.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>

namespace cellgate {

std::optional<std::string> read_file(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) {
        return std::nullopt;
    }
    std::array<char, 65536> buffer; // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
    std::string text;
    while (true) {
        const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
        if (count == 0) {
            return text;
        }
        if (count > 0) {
            text.append(buffer.data(), static_cast<std::size_t>(count));
        } else if (errno != EINTR) {
            return std::nullopt;
        }
    }
}

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno != EINTR) {
            return false;
        }
        bytes.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
    }
    return true;
}

UniqueFd lock_directory(const std::string& path) {
    UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    while (directory.valid() && ::flock(directory.get(), LOCK_EX) != 0) {
        if (errno != EINTR) {
            directory.reset();
        }
    }
    return directory;
}

Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw system_error(ErrorCode::internal_error, "cannot make a pipe", errno);
    }
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

UniqueFd anonymous_file(std::string_view bytes) {
    UniqueFd file(::memfd_create("cellgate", MFD_CLOEXEC));
    if (!file.valid() || !write_all(file.get(), bytes) || ::lseek(file.get(), 0, SEEK_SET) != 0) {
        throw system_error(ErrorCode::internal_error, "cannot make an anonymous file", errno);
    }
    return file;
}

UniqueFd open_to_read(const std::string& path) {
    UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) {
        throw system_error(ErrorCode::internal_error, "cannot open " + path, errno);
    }
    return file;
}

ReplacementFile::ReplacementFile(int directory, std::string_view prefix, mode_t mode)
    : directory_(directory), name_(std::string(prefix) + random_id()),
      fd_(::openat(directory, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)) {
    if (!fd_.valid()) {
        name_.clear();
    }
}

ReplacementFile::~ReplacementFile() {
    if (!name_.empty()) {
        ::unlinkat(directory_, name_.c_str(), 0);
    }
}

bool ReplacementFile::commit(const std::string& name) {
    if (::renameat(directory_, name_.c_str(), directory_, name.c_str()) != 0) {
        return false;
    }
    name_.clear();
    return true;
}

} // namespace cellgate
