#include "protected/protected_paths.hpp"

#include "base/error.hpp"
#include "mounts/paths.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

std::vector<std::string> real_homes(const Environment& environment) {
    std::vector<std::string> homes;
    auto home = environment.find("HOME");
    if (home != environment.end()) {
        homes.push_back(home->second);
    }
    if (const passwd* entry = ::getpwuid(::geteuid())) {
        homes.emplace_back(entry->pw_dir);
    }
    std::erase_if(homes, [](std::string& path) {
        char* resolved = path.starts_with('/') ? ::realpath(path.c_str(), nullptr) : nullptr;
        path = resolved == nullptr ? "/" : resolved;
        ::free(resolved);
        return path == "/";
    });
    return homes;
}

} // namespace

ProtectedPaths protected_paths(const Environment& environment, const std::vector<std::string>& hidden) {
    ProtectedPaths places{real_homes(environment), {}};
    for (const std::string& path : hidden) {
        // One that is not there yet may be made while the kernel runs.
        places.hidden.push_back(std::filesystem::weakly_canonical(path).string());
    }
    return places;
}

void refuse_if_private(const std::string& shown, std::string_view what, const ProtectedPaths& places,
                       const std::string& hint) {
    for (const std::string& home : places.homes) {
        if (is_within(home, shown)) {
            throw Error(
                ErrorCode::config_invalid,
                fmt::format("{} '{}' contains your home directory '{}', which a cell must not see", what, shown, home),
                hint);
        }
    }
    for (const std::string& path : places.hidden) {
        if (is_within(path, shown) || is_within(shown, path)) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("{} '{}' would show cellgate's own files in '{}' to a cell", what, shown, path),
                        "Choose another folder, or move cellgate's by XDG_STATE_HOME, XDG_CONFIG_HOME, XDG_DATA_HOME "
                        "and XDG_RUNTIME_DIR.");
        }
    }
}

void check_private(const std::string& path, std::string_view what) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() ||
        (status.st_mode & 077) != 0) {
        throw Error(ErrorCode::sandbox_unavailable,
                    fmt::format("{} '{}' must be a directory of this user with mode 0700", what, path),
                    "Remove it and try again.");
    }
}

std::string private_home(const ProtectedPaths& places) {
    bool usable = !places.homes.empty();
    for (std::string_view path : {"/usr", "/etc", "/proc", "/dev", "/sys"}) {
        usable = usable && !is_within(places.homes.front(), path);
    }
    return usable ? places.homes.front() : "/home/user";
}

} // namespace cellgate::sandbox
