#include "store/directories.hpp"

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "base/unique_fd.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace cellgate::store {

namespace {

std::string base_directory(const std::map<std::string, std::string>& environment, const char* variable,
                           const char* below_home) {
    const auto set = environment.find(variable);
    // The specification: a relative path is invalid and to be ignored.
    if (set != environment.end() && set->second.starts_with('/')) {
        return set->second + "/cellgate";
    }
    const auto home = environment.find("HOME");
    if (home == environment.end() || !home->second.starts_with('/')) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("expected HOME or {} in the environment, found neither", variable),
                    "set HOME to your home directory");
    }
    return fmt::format("{}/{}/cellgate", home->second, below_home);
}

class Directory {
  public:
    Directory(int parent, const std::string& name)
        : stream_(::fdopendir(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))) {
        if (stream_ == nullptr) {
            throw system_error(ErrorCode::store_failed, fmt::format("cannot open {}", name), errno);
        }
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    ~Directory() { ::closedir(stream_); }

    int fd() const { return ::dirfd(stream_); }
    // Restarts the listing, as there may be too many names for memory.
    std::vector<std::string> some_names() const {
        constexpr std::size_t max_names = 1000;
        std::vector<std::string> names;
        ::rewinddir(stream_);
        while (names.size() < max_names) {
            const dirent* entry = ::readdir(stream_);
            if (entry == nullptr) {
                break;
            }
            const std::string_view name = entry->d_name;
            if (name != "." && name != "..") {
                names.emplace_back(name);
            }
        }
        return names;
    }

  private:
    DIR* stream_;
};

// A directory that its owner may not write can be neither emptied nor moved. Its creator may have replaced it
// meanwhile, for example by a link.
void open_up(int parent, const std::string& name) {
    const UniqueFd directory(::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat found{};
    if (directory.valid() && ::fstat(directory.get(), &found) == 0 && found.st_uid == ::geteuid()) {
        ::chmod(fmt::format("/proc/self/fd/{}", directory.get()).c_str(), 0700);
    }
}

// Removes some of the entries of `directory`, if it has any. Directories below it are moved up into `top` first, so
// that a tree of any depth takes two descriptors and no stack.
bool remove_some(const Directory& directory, const Directory& top) {
    const std::vector<std::string> names = directory.some_names();
    for (const std::string& name : names) {
        if (::unlinkat(directory.fd(), name.c_str(), 0) == 0) {
            continue;
        }
        if (errno != EISDIR) {
            throw system_error(ErrorCode::store_failed, fmt::format("cannot remove {}", name), errno);
        }
        open_up(directory.fd(), name);
        if (&directory != &top) {
            if (::renameat(directory.fd(), name.c_str(), top.fd(), random_id().c_str()) != 0) {
                throw system_error(ErrorCode::store_failed, fmt::format("cannot move {}", name), errno);
            }
            continue;
        }
        {
            const Directory below(top.fd(), name);
            while (remove_some(below, top)) {
            }
        }
        if (::unlinkat(top.fd(), name.c_str(), AT_REMOVEDIR) != 0) {
            throw system_error(ErrorCode::store_failed, fmt::format("cannot remove {}", name), errno);
        }
    }
    return !names.empty();
}

} // namespace

Directories find_directories(const std::map<std::string, std::string>& environment) {
    const auto runtime = environment.find("XDG_RUNTIME_DIR");
    const bool has_runtime = runtime != environment.end() && runtime->second.starts_with('/');
    return Directories{base_directory(environment, "XDG_STATE_HOME", ".local/state"),
                       base_directory(environment, "XDG_CONFIG_HOME", ".config"),
                       has_runtime ? runtime->second + "/cellgate" : fmt::format("/tmp/cellgate-{}", ::getuid()),
                       base_directory(environment, "XDG_DATA_HOME", ".local/share")};
}

std::string key_of_root(const std::string& root) {
    constexpr std::size_t digits = 16; // of paths that belong to one user; sockets need short ones
    return sha256(root).substr(0, digits);
}

std::string record_directory(const Directories& directories, const std::string& root) {
    return fmt::format("{}/records/{}", directories.state, key_of_root(root));
}

std::string changes_directory(const Directories& directories, const std::string& root) {
    return fmt::format("{}/changes/{}", directories.state, key_of_root(root));
}

std::string saved_tools_directory(const Directories& directories, const std::string& root) {
    return fmt::format("{}/saved/{}", directories.config, key_of_root(root));
}

std::string make_unique_directory(const std::string& parent, const std::string& prefix) {
    std::string path = fmt::format("{}/{}XXXXXX", parent, prefix);
    if (::mkdtemp(path.data()) == nullptr) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot make a directory in {}", parent), errno);
    }
    return path;
}

void open_up_directory(const std::string& path) {
    open_up(AT_FDCWD, path);
}

void remove_tree(const std::string& path) {
    if (::unlink(path.c_str()) == 0 || errno == ENOENT) {
        return;
    }
    open_up_directory(path);
    try {
        {
            const Directory top(AT_FDCWD, path);
            while (remove_some(top, top)) {
            }
        }
        if (::rmdir(path.c_str()) != 0) {
            throw system_error(ErrorCode::store_failed, "it is not empty", errno);
        }
    } catch (const Error& error) {
        log_warning("cannot remove {}: {}", path, error.message);
    }
}

} // namespace cellgate::store
