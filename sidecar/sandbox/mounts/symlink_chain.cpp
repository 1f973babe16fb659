#include "mounts/symlink_chain.hpp"

#include <climits>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

using Rest = std::deque<fs::path>;

void put_before(Rest& rest, const fs::path& path) {
    const fs::path relative = path.relative_path();
    rest.insert(rest.begin(), relative.begin(), relative.end());
}

// Where a folder is missing, ".." after it is unknown: nothing is to be made there at all.
std::string missing_place(const fs::path& next, const Rest& rest) {
    if (std::find(rest.begin(), rest.end(), "..") != rest.end()) {
        return next.string();
    }
    fs::path place = next;
    for (const fs::path& component : rest) {
        if (!component.empty() && component != ".") {
            place /= component;
        }
    }
    return place.string();
}

} // namespace

SymlinkChain resolve_symlinks(const std::string& folder, const std::string& text) {
    SymlinkChain trail;
    fs::path current = text.starts_with('/') ? "/" : folder;
    Rest rest;
    put_before(rest, text);
    int links_left = max_links;
    while (!rest.empty()) {
        const fs::path component = std::move(rest.front());
        rest.pop_front();
        if (component.empty() || component == ".") {
            continue;
        }
        if (component == "..") {
            current = current.parent_path();
            continue;
        }
        const fs::path next = current / component;
        std::array<char, PATH_MAX> target; // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
        const ssize_t size = ::readlink(next.c_str(), target.data(), target.size());
        if (size > 0 && size < PATH_MAX) {
            const fs::path to = std::string(target.data(), static_cast<std::size_t>(size));
            trail.links.emplace_back(next.string(), to.string());
            if (links_left-- == 0) {
                trail.error = ELOOP;
                return trail;
            }
            put_before(rest, to);
            current = to.is_absolute() ? fs::path("/") : current;
            continue;
        }
        struct stat status{};
        const bool is_there = ::lstat(next.c_str(), &status) == 0;
        if (!is_there || (!rest.empty() && !S_ISDIR(status.st_mode))) {
            trail.error = is_there ? ENOTDIR : errno;
            trail.missing = missing_place(next, rest);
            return trail;
        }
        current = next;
    }
    trail.end = current.string();
    return trail;
}

} // namespace cellgate::sandbox
