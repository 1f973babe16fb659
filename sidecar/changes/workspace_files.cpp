#include "workspace_files.hpp"

#include "base/error.hpp"
#include "base/files.hpp"

#include <climits>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <set>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

namespace cellgate::changes {

namespace {

constexpr int as_folder = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

std::int64_t nanoseconds(const timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// That there is nothing of that name, or that what it would be in is no folder.
bool means_absent(int error) {
    return error == ENOENT || error == ENOTDIR;
}

void read_link(const UniqueFd& folder, const std::string& name, FileContent& content) {
    std::string target(PATH_MAX, '\0');
    const ssize_t count = ::readlinkat(folder.get(), name.c_str(), target.data(), target.size());
    if (count < 0) {
        content.kind = Kind::unreadable;
        content.error = errno;
        return;
    }
    target.resize(static_cast<std::size_t>(count));
    content.bytes = std::move(target);
}

// At most one byte more than `max_bytes`.
void read_bytes(int fd, std::uint64_t size_hint, std::uint64_t max_bytes, FileContent& content) {
    std::string& bytes = content.bytes;
    bytes.resize(std::min(size_hint, max_bytes) + 1);
    std::size_t size = 0;
    while (size < bytes.size()) {
        const ssize_t count = ::read(fd, bytes.data() + size, bytes.size() - size);
        if (count == 0) {
            break;
        }
        if (count < 0 && errno != EINTR) {
            content.kind = Kind::unreadable;
            content.error = errno;
            break;
        }
        size += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
        if (size == bytes.size() && size <= max_bytes) { // it grew
            bytes.resize(std::min<std::uint64_t>(max_bytes, size * 2) + 1);
        }
    }
    bytes.resize(size);
    content.too_large = size > max_bytes;
}

void read_regular(const UniqueFd& folder, const std::string& name, std::uint64_t max_bytes, FileContent& content) {
    const UniqueFd file(
        ::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat status{};
    if (!file.valid() || ::fstat(file.get(), &status) != 0) {
        content.kind = Kind::unreadable;
        content.error = errno;
        return;
    }
    content.kind = kind_of(status.st_mode);
    content.mode = status.st_mode;
    content.stat = file_stat(status);
    content.too_large = content.stat.size > max_bytes;
    if (content.kind == Kind::regular && !content.too_large) {
        read_bytes(file.get(), content.stat.size, max_bytes, content);
    }
    if (content.too_large) {
        content.bytes.clear();
    }
}

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};

} // namespace

FileStat file_stat(const struct stat& status) {
    return {status.st_dev,
            status.st_ino,
            status.st_mode,
            static_cast<std::uint64_t>(status.st_size),
            nanoseconds(status.st_mtim),
            nanoseconds(status.st_ctim)};
}

Kind kind_of(mode_t mode) {
    return S_ISREG(mode) ? Kind::regular : S_ISLNK(mode) ? Kind::link : S_ISDIR(mode) ? Kind::folder : Kind::special;
}

std::string sibling(const std::string& beside, const std::string& name) {
    return beside.substr(0, beside.rfind('/') + 1) + name;
}

WorkspaceFiles::WorkspaceFiles(const std::string& workspace)
    : workspace_(workspace), root_(::open(workspace.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (!root_.valid()) {
        throw system_error(ErrorCode::store_failed, "cannot open the workspace " + workspace, errno);
    }
}

WorkspaceFiles::Located WorkspaceFiles::locate(const std::string& path) const {
    Located located{UniqueFd(::openat(root_.get(), ".", as_folder)), {}};
    std::size_t start = 0;
    for (std::size_t slash = 0; located.folder.valid() && (slash = path.find('/', start)) != std::string::npos;
         start = slash + 1) {
        const std::string component = path.substr(start, slash - start);
        located.folder = UniqueFd(::openat(located.folder.get(), component.c_str(), as_folder));
    }
    located.name = path.substr(start);
    return located;
}

FileContent WorkspaceFiles::read(const std::string& path, std::uint64_t max_bytes) const {
    FileContent content;
    const Located located = locate(path);
    struct stat status{};
    if (!located.folder.valid() ||
        ::fstatat(located.folder.get(), located.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        content.error = errno;
        content.kind = means_absent(content.error) ? Kind::absent : Kind::unreadable;
        return content;
    }
    content.kind = kind_of(status.st_mode);
    content.mode = status.st_mode;
    content.stat = file_stat(status);
    if (content.kind == Kind::link) {
        read_link(located.folder, located.name, content);
    } else if (content.kind == Kind::regular) {
        read_regular(located.folder, located.name, max_bytes, content);
    }
    if (content.kind == Kind::unreadable && means_absent(content.error)) { // removed meanwhile
        content.kind = Kind::absent;
    }
    return content;
}

struct stat WorkspaceFiles::status(const std::string& path) const {
    struct stat status{};
    if (::fstatat(root_.get(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        status.st_mode = 0;
    }
    return status;
}

std::vector<std::string> WorkspaceFiles::names(const std::string& folder) const {
    const Located located = locate(folder);
    UniqueFd readable(located.folder.valid() ? ::openat(located.folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                                             : -1);
    std::vector<std::string> found;
    const std::unique_ptr<DIR, CloseFolder> stream(readable.valid() ? ::fdopendir(readable.get()) : nullptr);
    if (!stream) {
        return found;
    }
    readable.release(); // the stream's
    while (const dirent* entry = ::readdir(stream.get())) {
        const std::string name = entry->d_name;
        bool is_folder = entry->d_type == DT_DIR;
        if (entry->d_type == DT_UNKNOWN) {
            struct stat status{};
            is_folder = ::fstatat(located.folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                        S_ISDIR(status.st_mode);
        }
        if (name != "." && name != "..") {
            found.push_back(is_folder ? name + "/" : name);
        }
    }
    return found;
}

std::string WorkspaceFiles::why_not_writable(const std::string& path) const {
    UniqueFd folder(::openat(root_.get(), ".", as_folder));
    std::size_t start = 0;
    for (std::size_t slash = 0; (slash = path.find('/', start)) != std::string::npos; start = slash + 1) {
        const std::string component = path.substr(start, slash - start);
        UniqueFd next(::openat(folder.get(), component.c_str(), as_folder));
        if (!next.valid()) {
            if (means_absent(errno)) {
                break; // it is made, or what is there is removed
            }
            return "its folder cannot be opened";
        }
        folder = std::move(next);
    }
    return ::faccessat(folder.get(), ".", W_OK | X_OK, AT_EACCESS) == 0 ? "" : "its folder is not writable";
}

int WorkspaceFiles::remove_file(const std::string& path) const {
    const Located located = locate(path);
    return located.folder.valid() && ::unlinkat(located.folder.get(), located.name.c_str(), 0) == 0 ? 0 : errno;
}

int WorkspaceFiles::remove_folder(const std::string& path) const {
    const Located located = locate(path);
    return located.folder.valid() && ::unlinkat(located.folder.get(), located.name.c_str(), AT_REMOVEDIR) == 0 ? 0
                                                                                                               : errno;
}

int WorkspaceFiles::make_folders_of(const std::string& path) const {
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        const Located located = locate(path.substr(0, slash));
        if (!located.folder.valid() ||
            (::mkdirat(located.folder.get(), located.name.c_str(), 0777) != 0 && errno != EEXIST)) {
            return errno;
        }
    }
    return 0;
}

int WorkspaceFiles::replace(const std::string& path, const std::string& temporary, std::uint32_t mode,
                            const std::string& bytes) const {
    const Located located = locate(path);
    if (!located.folder.valid()) {
        return errno;
    }
    const int folder = located.folder.get();
    if (S_ISLNK(mode)) {
        if (::symlinkat(bytes.c_str(), folder, temporary.c_str()) != 0) {
            return errno;
        }
    } else {
        const UniqueFd file(
            ::openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!file.valid()) {
            return errno;
        }
        if (!write_all(file.get(), bytes) || ::fchmod(file.get(), mode & 07777U) != 0 || ::fdatasync(file.get()) != 0) {
            const int error = errno;
            ::unlinkat(folder, temporary.c_str(), 0);
            return error;
        }
    }
    if (::renameat(folder, temporary.c_str(), folder, located.name.c_str()) != 0) {
        const int error = errno;
        ::unlinkat(folder, temporary.c_str(), 0);
        return error;
    }
    return 0;
}

void WorkspaceFiles::flush_folders_of(const std::vector<std::string>& paths) const {
    std::set<std::string> folders = {""};
    for (const std::string& path : paths) {
        for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
            folders.insert(path.substr(0, slash + 1));
        }
    }
    for (const std::string& folder : folders) {
        const Located located = locate(folder);
        const UniqueFd readable(
            located.folder.valid() ? ::openat(located.folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1);
        if (readable.valid()) { // otherwise it is gone, and its parent says so
            ::fsync(readable.get());
        }
    }
}

} // namespace cellgate::changes
