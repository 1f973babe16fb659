#include "store/directories.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

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

} // namespace

Directories find_directories(const std::map<std::string, std::string>& environment) {
    const auto runtime = environment.find("XDG_RUNTIME_DIR");
    const bool has_runtime = runtime != environment.end() && runtime->second.starts_with('/');
    return Directories{base_directory(environment, "XDG_STATE_HOME", ".local/state"),
                       base_directory(environment, "XDG_CONFIG_HOME", ".config"),
                       has_runtime ? runtime->second + "/cellgate" : fmt::format("/tmp/cellgate-{}", ::getuid())};
}

void make_private_directory(const std::string& path) {
    std::error_code parent_error; // mkdir below says what is wrong
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), parent_error);
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
            "remove it, or set XDG_RUNTIME_DIR, XDG_STATE_HOME and XDG_CONFIG_HOME to directories of your own");
    }
}

std::string make_unique_directory(const std::string& parent, const std::string& prefix) {
    std::string path = fmt::format("{}/{}XXXXXX", parent, prefix);
    if (::mkdtemp(path.data()) == nullptr) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot make a directory in {}", parent), errno);
    }
    return path;
}

void remove_tree(const std::string& path) {
    std::error_code error;
    std::filesystem::remove_all(path, error); // uses openat and does not follow links
    if (error) {
        log_warning("cannot remove {}: {}", path, error.message());
    }
}

} // namespace cellgate::store
