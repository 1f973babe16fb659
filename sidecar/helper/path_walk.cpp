#include "path_walk.hpp"

#include <climits>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

namespace cellgate::helper {

namespace {

constexpr int max_links = 40; // as the system's own limit

const struct stat& proc_root() {
    static const struct stat status = [] {
        struct stat found{};
        ::stat("/proc", &found);
        return found;
    }();
    return status;
}

bool is_in_proc(const OpenNode& held) {
    return held.status.st_dev == proc_root().st_dev;
}

bool is_proc_root(const OpenNode& held) {
    return is_in_proc(held) && held.status.st_ino == proc_root().st_ino;
}

// Empty where it is ours. runsc's gofer has another: a folder in which all that we have is mounted once more.
std::string& root_of_caller() {
    static std::string root;
    return root;
}

// The system lets every process look into itself, so this one must not do so for others.
void refuse_own(const OpenNode& held) {
    static const std::string own = "/proc/" + std::to_string(::getpid()) + "/";
    const std::string path = path_of(held) + "/";
    if (path.size() < 2 || path.starts_with(own)) {
        throw CallError{EACCES};
    }
}

OpenNode hold(UniqueFd descriptor) {
    OpenNode held{.descriptor = std::move(descriptor)};
    if (held.descriptor.get() < 0 || ::fstat(held.descriptor.get(), &held.status) != 0) {
        throw CallError{errno};
    }
    if (is_in_proc(held)) {
        refuse_own(held);
    }
    return held;
}

OpenNode open_in(const OpenNode& folder, const std::string& name, int flags) {
    return hold(UniqueFd(::openat(folder.descriptor.get(), name.c_str(), O_PATH | O_CLOEXEC | flags)));
}

// Takes the first component off, with the slashes around it.
std::string take_component(std::string& path) {
    const std::size_t begin = std::min(path.find_first_not_of('/'), path.size());
    const std::size_t end = std::min(path.find('/', begin), path.size());
    std::string component = path.substr(begin, end - begin);
    path.erase(0, std::min(path.find_first_not_of('/', end), path.size()));
    return component;
}

} // namespace

bool leads_beyond_paths(const OpenNode& folder, const OpenNode& link) {
    return is_in_proc(link) && !is_proc_root(folder);
}

std::string path_of(const OpenNode& held) {
    const std::string link = "/proc/self/fd/" + std::to_string(held.descriptor.get());
    std::array<char, PATH_MAX> text; // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
    const ssize_t size = ::readlink(link.c_str(), text.data(), text.size());
    std::string path(text.data(), size > 0 && size < PATH_MAX ? static_cast<std::size_t>(size) : 0);
    const std::string& root = root_of_caller();
    if (!root.empty() && (path + "/").starts_with(root + "/")) {
        path.erase(0, root.size());
        return path.empty() ? "/" : path;
    }
    return path;
}

std::string path_of(const Place& place) {
    std::string path = path_of(place.folder);
    if (path.empty() || place.name == "." || place.name == "/") {
        return path;
    }
    return (path == "/" ? "" : path) + "/" + place.name.substr(0, place.name.find('/'));
}

PathWalk::PathWalk(const Caller& caller) : caller_(caller) {
    root_of_caller().clear();
    const std::string path = path_of(hold(caller.root()));
    root_of_caller() = path == "/" ? std::string() : path;
}

OpenNode PathWalk::root() const {
    return hold(caller_.root());
}

OpenNode PathWalk::start(int descriptor) const {
    return hold(caller_.opened(descriptor));
}

Place PathWalk::place(const OpenNode& start, std::string path) {
    if (path.empty()) {
        throw CallError{ENOENT};
    }
    OpenNode folder = path.front() == '/' ? root() : hold(UniqueFd(::dup(start.descriptor.get())));
    const std::size_t last = path.find_last_not_of('/');
    if (last == std::string::npos) {
        return {std::move(folder), "/"};
    }
    const std::size_t slash = path.rfind('/', last);
    const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
    std::string name = path.substr(begin);
    path.resize(begin);
    enter(folder, std::move(path));
    if (!S_ISDIR(folder.status.st_mode)) {
        throw CallError{ENOTDIR};
    }
    return {std::move(folder), std::move(name)};
}

OpenNode PathWalk::look(const Place& place) const {
    return open_in(place.folder, place.name, O_NOFOLLOW);
}

Place PathWalk::follow_link(const Place& place, const OpenNode& link) {
    count_link();
    return this->place(place.folder, link_text(place.folder, place.name, link));
}

OpenNode PathWalk::follow(Place place) {
    while (true) {
        OpenNode found = look(place);
        if (!S_ISLNK(found.status.st_mode)) {
            return found;
        }
        if (leads_beyond_paths(place.folder, found)) {
            return open_in(place.folder, place.name, 0);
        }
        place = follow_link(place, found);
    }
}

void PathWalk::enter(OpenNode& folder, std::string path) {
    while (!path.empty()) {
        const std::string name = take_component(path);
        if (name.empty() || name == ".") {
            continue;
        }
        OpenNode next = open_in(folder, name, O_NOFOLLOW);
        through_proc_ = through_proc_ || is_in_proc(next);
        if (!S_ISLNK(next.status.st_mode)) {
            folder = std::move(next);
        } else if (leads_beyond_paths(folder, next)) {
            count_link();
            folder = open_in(folder, name, 0);
        } else {
            count_link();
            path = link_text(folder, name, next) + "/" + path;
            if (path.front() == '/') {
                folder = root();
            }
        }
    }
}

std::string PathWalk::link_text(const OpenNode& folder, const std::string& name, const OpenNode& link) const {
    if (is_proc_root(folder) && name == "self") {
        return std::to_string(caller_.process());
    }
    if (is_proc_root(folder) && name == "thread-self") {
        return std::to_string(caller_.process()) + "/task/" + std::to_string(caller_.thread());
    }
    std::array<char, PATH_MAX> text; // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
    const ssize_t size = ::readlinkat(link.descriptor.get(), "", text.data(), text.size());
    if (size <= 0 || size == PATH_MAX) {
        throw CallError{size < 0 ? errno : size == 0 ? ENOENT : ENAMETOOLONG};
    }
    return {text.data(), static_cast<std::size_t>(size)};
}

void PathWalk::count_link() {
    if (++links_ > max_links) {
        throw CallError{ELOOP};
    }
}

} // namespace cellgate::helper
