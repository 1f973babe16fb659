#include "base/private_files.hpp"

#include "base/error.hpp"
#include "base/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate {

void make_private_directory(const std::string& path) {
    const std::string parent = std::filesystem::path(path).parent_path();
    std::error_code parent_error;
    std::filesystem::create_directories(parent, parent_error);
    if (parent_error) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot make the directory {}", parent),
                           parent_error.value());
    }
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot make the directory {}", path), errno);
    }
    struct stat found{};
    if (::lstat(path.c_str(), &found) != 0) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot look at the directory {}", path), errno);
    }
    if (!S_ISDIR(found.st_mode) || found.st_uid != ::getuid() || (found.st_mode & 0022) != 0) {
        throw Error(
            ErrorCode::store_failed,
            fmt::format("expected {} to be a directory of yours that only you can write, found something else", path),
            "remove it, or set XDG_RUNTIME_DIR, XDG_STATE_HOME, XDG_CONFIG_HOME and XDG_DATA_HOME to directories of "
            "your own");
    }
}

void write_new_file(const std::string& path, std::string_view bytes) {
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.valid() || !write_all(file.get(), bytes)) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot write {}", path), errno);
    }
}

std::optional<std::string> read_private_file(const std::string& path, std::size_t max_bytes) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!file.valid() && errno == ENOENT) {
        return std::nullopt;
    }
    struct stat status{};
    if (!file.valid() || ::fstat(file.get(), &status) != 0) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot open {}", path), errno);
    }
    if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 0022) != 0 ||
        status.st_size > static_cast<off_t>(max_bytes)) {
        throw Error(ErrorCode::store_failed,
                    fmt::format("expected {} to be a file of yours that only you can write", path));
    }
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t length = 0;
    while (length < text.size()) {
        const ssize_t got = ::read(file.get(), text.data() + length, text.size() - length);
        if (got < 0 && errno != EINTR) {
            throw system_error(ErrorCode::store_failed, fmt::format("cannot read {}", path), errno);
        }
        if (got == 0) {
            break;
        }
        length += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    }
    text.resize(length);
    return text;
}

void write_private_file(const std::string& directory, const std::string& path, std::string_view bytes) {
    ReplacementFile file(AT_FDCWD, path + ".", 0600);
    if (!file.valid() || !write_all(file.fd(), bytes) || ::fsync(file.fd()) != 0 || !file.commit(path)) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot write {}", path), errno);
    }
    const UniqueFd folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.valid() || ::fsync(folder.get()) != 0) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot write {}", directory), errno);
    }
}

} // namespace cellgate
