#include "mounts/paths.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>

namespace cellgate::sandbox {

namespace {

constexpr int max_links = 40; // as the kernel's own limit

} // namespace

std::string canonical_path(const std::string& path, std::string_view what, std::map<std::string, std::string>& links) {
    namespace fs = std::filesystem;
    if (path.empty() || path[0] != '/' || path.find('\0') != std::string::npos) {
        throw Error(ErrorCode::config_invalid, fmt::format("{} must be an absolute path, found '{}'", what, path));
    }
    fs::path current = "/";
    std::deque<fs::path> rest;
    for (const fs::path& component : fs::path(path).relative_path()) {
        rest.push_back(component);
    }
    int links_left = max_links;
    while (!rest.empty()) {
        fs::path component = std::move(rest.front());
        rest.pop_front();
        if (component.empty() || component == ".") {
            continue;
        }
        if (component == "..") {
            current = current.parent_path();
            continue;
        }
        fs::path next = current / component;
        std::error_code error;
        fs::file_status status = fs::symlink_status(next, error);
        if (status.type() == fs::file_type::symlink && links_left-- > 0) {
            fs::path target = fs::read_symlink(next, error);
            if (!error) {
                links[next.string()] = target.string();
                fs::path relative = target.relative_path();
                rest.insert(rest.begin(), relative.begin(), relative.end());
                current = target.is_absolute() ? fs::path("/") : current;
                continue;
            }
        } else if (status.type() != fs::file_type::symlink && fs::exists(status)) {
            current = next;
            continue;
        }
        std::string reason = error ? error.message() : std::strerror(links_left < 0 ? ELOOP : ENOENT);
        throw Error(ErrorCode::config_invalid, fmt::format("{} '{}' cannot be opened: {}", what, path, reason),
                    "Check that it exists and that you may read it.");
    }
    return current.string();
}

} // namespace cellgate::sandbox
