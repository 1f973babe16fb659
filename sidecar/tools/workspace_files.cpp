#include "workspace_files.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/files.hpp"
#include "base/names.hpp"
#include "base/unique_fd.hpp"
#include "sandbox/protected_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <memory>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cellgate::tools {

namespace {

constexpr std::string_view wrappers_folder = "mcptools";
constexpr std::string_view virtual_environment_mark = "pyvenv.cfg";

Error refused(const std::string& path, std::string_view why) {
    return Error(ErrorCode::denied, fmt::format("{}: {}", escape_unprintable(path), why));
}

Error failed(const std::string& what) {
    return Error(ErrorCode::internal_error, what);
}

Error failed(const std::string& path, int error_number) {
    return system_error(ErrorCode::internal_error, escape_unprintable(path), error_number);
}

std::vector<std::string> components(const std::string& path) {
    std::vector<std::string> parts;
    std::size_t start = 0;
    while (start < path.size()) {
        const std::size_t end = std::min(path.find('/', start), path.size());
        if (end > start) {
            parts.push_back(path.substr(start, end - start));
        }
        start = end + 1;
    }
    return parts;
}

std::string read_link(const std::string& link) {
    std::array<char, 8192> buffer{};
    const ssize_t size = ::readlink(link.c_str(), buffer.data(), buffer.size());
    if (size < 0 || static_cast<std::size_t>(size) == buffer.size()) {
        throw failed("cannot tell where an open file is", size < 0 ? errno : ENAMETOOLONG);
    }
    return std::string(buffer.data(), static_cast<std::size_t>(size));
}

std::string link_of(int fd) {
    return fmt::format("/proc/self/fd/{}", fd);
}

struct stat status_of(int fd, const std::string& path) {
    struct stat status{};
    if (::fstat(fd, &status) != 0) {
        throw failed(path, errno);
    }
    return status;
}

void require_no_secret(const std::string& place, const std::string& path) {
    for (const std::string& part : components(place)) {
        if (sandbox::is_secret_name(part)) {
            throw refused(
                path, fmt::format("files like {} hold secrets and are not given to code", escape_unprintable(part)));
        }
    }
}

void require_not_obeyed(const std::string& place, const std::string& path) {
    for (const std::string& part : components(place)) {
        if (sandbox::is_auto_run_name(part)) {
            throw refused(path, fmt::format("what is in {} is run or obeyed by programs outside the sandbox",
                                            escape_unprintable(part)));
        }
    }
}

std::string read_all(int fd, const std::string& path, std::size_t most) {
    std::string text(most + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const ssize_t count = ::read(fd, text.data() + size, text.size() - size);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            throw failed(path, errno);
        }
        if (count == 0) {
            break;
        }
        size += static_cast<std::size_t>(count);
    }
    text.resize(size);
    return text;
}

std::string_view type_of(unsigned mode) {
    return S_ISREG(mode) ? "file" : S_ISDIR(mode) ? "directory" : S_ISLNK(mode) ? "symlink" : "other";
}

} // namespace

// Where a file is to be written.
struct WorkspaceFiles::Target {
    UniqueFd directory;
    std::string name;
    std::optional<unsigned> mode; // of the file that is there
};

WorkspaceFiles::WorkspaceFiles(const std::string& workspace)
    : workspace_(workspace), root_(::open(workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    if (root_.get() < 0) {
        throw failed(workspace, errno);
    }
    root_place_ = read_link(link_of(root_.get()));
}

std::string WorkspaceFiles::relative(const std::string& path) const {
    if (path.find('\0') != std::string::npos) {
        throw refused(path, "expected a path without NUL characters");
    }
    if (path == workspace_) {
        return ".";
    }
    if (path.starts_with(workspace_ + "/")) {
        return relative(path.substr(workspace_.size() + 1));
    }
    if (path.starts_with('/')) {
        throw refused(path, "it is outside the workspace");
    }
    return path.empty() ? "." : path;
}

UniqueFd WorkspaceFiles::open(const std::string& path, int flags) const {
    struct open_how how{};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    const std::string inside = relative(path);
    long fd = -1;
    // EAGAIN: something was renamed meanwhile, so that the system cannot tell whether the path stays inside.
    for (int attempt = 0; attempt < 100 && fd < 0; ++attempt) {
        fd = ::syscall(SYS_openat2, root_.get(), inside.c_str(), &how, sizeof how);
        if (fd < 0 && errno != EAGAIN && errno != EINTR) {
            break;
        }
    }
    if (fd >= 0) {
        return UniqueFd(static_cast<int>(fd));
    }
    if (errno == EXDEV) {
        throw refused(path, "it leads outside the workspace");
    }
    if (errno == ENOSYS) {
        throw refused(path, "this system cannot keep paths inside the workspace (openat2, Linux 5.6)");
    }
    throw failed(path, errno);
}

// Where an open file is now, as seen from the workspace.
std::string WorkspaceFiles::place_of(int fd) const {
    const std::string place = read_link(link_of(fd));
    if (place == root_place_) {
        return "";
    }
    if (!place.starts_with(root_place_ + "/")) {
        throw refused(place, "it is outside the workspace");
    }
    return place.substr(root_place_.size() + 1);
}

UniqueFd WorkspaceFiles::open_readable(const std::string& path) const {
    // Without opening it for reading, which would already act on a device or a fifo.
    UniqueFd file = open(path, O_PATH);
    const struct stat status = status_of(file.get(), path);
    // As it was asked, too: a guarded name may be a link to an innocent one.
    require_no_secret(relative(path), path);
    require_no_secret(place_of(file.get()), path);
    if (!S_ISREG(status.st_mode)) {
        throw failed(fmt::format("{}: expected a file, found a {}", escape_unprintable(path), type_of(status.st_mode)));
    }
    if (status.st_size > static_cast<off_t>(max_file_bytes)) {
        throw failed(fmt::format("{}: expected at most {} bytes, found {}; read it from the cell itself, in parts",
                                 escape_unprintable(path), max_file_bytes, status.st_size));
    }
    return file;
}

void WorkspaceFiles::check_read(const std::string& path) const {
    open_readable(path);
}

std::string WorkspaceFiles::read_text(const std::string& path) const {
    const UniqueFd file = open_readable(path);
    const UniqueFd readable(::open(link_of(file.get()).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (readable.get() < 0) {
        throw failed(path, errno);
    }
    std::string text = read_all(readable.get(), path, max_file_bytes);
    if (text.size() > max_file_bytes) {
        throw failed(
            fmt::format("{}: expected at most {} bytes, found more", escape_unprintable(path), max_file_bytes));
    }
    if (!is_utf8(text)) {
        throw failed(fmt::format("{}: expected text in UTF-8, found other bytes; read it from the cell itself",
                                 escape_unprintable(path)));
    }
    return text;
}

UniqueFd WorkspaceFiles::open_directory(const std::string& path) const {
    UniqueFd directory = open(path, O_RDONLY | O_DIRECTORY);
    require_no_secret(relative(path), path);
    require_no_secret(place_of(directory.get()), path);
    return directory;
}

std::vector<DirectoryEntry> WorkspaceFiles::list(const std::string& path) const {
    const UniqueFd directory = open_directory(path);
    // The stream closes its descriptor.
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(::fcntl(directory.get(), F_DUPFD_CLOEXEC, 0)),
                                                     ::closedir);
    if (!stream) {
        throw failed(path, errno);
    }
    std::vector<DirectoryEntry> entries;
    while (const dirent* entry = ::readdir(stream.get())) {
        const std::string name = entry->d_name;
        struct stat status{};
        if (name == "." || name == ".." ||
            ::fstatat(directory.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (entries.size() == max_entries) {
            throw failed(fmt::format("{}: expected at most {} entries, found more; list it from the cell itself",
                                     escape_unprintable(path), max_entries));
        }
        std::optional<std::int64_t> size;
        if (S_ISREG(status.st_mode)) {
            size = status.st_size;
        }
        entries.push_back({name, type_of(status.st_mode), size});
    }
    std::sort(entries.begin(), entries.end(),
              [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
    return entries;
}

WorkspaceFiles::Target WorkspaceFiles::open_target(const std::string& path) const {
    const std::string inside = relative(path);
    const std::size_t slash = inside.rfind('/');
    std::string name = slash == std::string::npos ? inside : inside.substr(slash + 1);
    if (name.empty() || name == "." || name == "..") {
        throw failed(fmt::format("{}: expected the name of a file", escape_unprintable(path)));
    }
    Target target{open(slash == std::string::npos ? "." : inside.substr(0, slash + 1), O_RDONLY | O_DIRECTORY),
                  std::move(name), std::nullopt};
    const std::string place = place_of(target.directory.get());
    std::vector<std::string> parts = components(place);
    parts.push_back(target.name);
    for (const std::string& each : {inside, place + "/" + target.name}) {
        require_no_secret(each, path);
        require_not_obeyed(each, path);
    }
    if (parts.front() == wrappers_folder) {
        throw refused(path, "the wrappers of tools are written by cellgate alone");
    }
    std::string above;
    for (const std::string& part : parts) {
        const std::string mark = above + std::string(virtual_environment_mark);
        if (::faccessat(root_.get(), mark.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
            throw refused(path, "it is part of a virtual environment, whose programs are run outside the sandbox");
        }
        above += part + "/";
    }
    struct stat status{};
    if (::fstatat(target.directory.get(), target.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISLNK(status.st_mode)) {
            throw refused(path, "it is a symbolic link; name the file that it resolves to");
        }
        if (!S_ISREG(status.st_mode)) {
            throw failed(
                fmt::format("{}: expected a file, found a {}", escape_unprintable(path), type_of(status.st_mode)));
        }
        target.mode = status.st_mode & 07777U;
    } else if (errno != ENOENT) {
        throw failed(path, errno);
    }
    return target;
}

void WorkspaceFiles::check_write(const std::string& path) const {
    open_target(path);
}

bool WorkspaceFiles::write(const std::string& path, std::string_view content) const {
    const Target target = open_target(path);
    ReplacementFile file(target.directory.get(), ".cellgate-", 0666);
    if (!file.valid() || !write_all(file.fd(), content) ||
        (target.mode && ::fchmod(file.fd(), *target.mode & 0777U) != 0) || ::fsync(file.fd()) != 0 ||
        !file.commit(target.name)) {
        throw failed(path, errno);
    }
    ::fsync(target.directory.get());
    return !target.mode;
}

} // namespace cellgate::tools
