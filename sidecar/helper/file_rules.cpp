#include "file_rules.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::helper {

namespace {

bool is_right(char letter) {
    return std::string_view("nrwsd").find(letter) != std::string_view::npos;
}

// Of a path below /proc/PID: whether that process is one of the sandbox's. Others are outside of our Landlock domain,
// and nothing that asks for the right to look into them is had.
bool belongs_to_sandbox(const std::string& path) {
    const std::string process = path.substr(0, path.find('/', std::string_view("/proc/").size()));
    char namespace_name[64];
    return ::readlink((process + "/ns/pid").c_str(), namespace_name, sizeof namespace_name) > 0;
}

// What everybody may read, as if there were no other processes; and nothing of the machine's connections.
bool may_read_in_proc(const OpenNode& held, const std::string& path) {
    constexpr std::string_view top = "/proc/";
    if (path.size() <= top.size() || path[top.size()] < '0' || path[top.size()] > '9') {
        return (held.status.st_mode & S_IROTH) != 0 && path != "/proc/net" && !path.starts_with("/proc/net/");
    }
    const bool of_network = path.find("/net/") != std::string::npos || path.ends_with("/net");
    return !of_network && belongs_to_sandbox(path);
}

} // namespace

FileRules::FileRules(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\0', at);
        if (end == std::string::npos || end < at + 2 || !is_right(text[at]) || text[at + 1] != '/') {
            throw std::invalid_argument("the list of rules is none");
        }
        rules_[text.substr(at + 1, end - at - 1)] = static_cast<Right>(text[at]);
        at = end + 1;
    }
    for (const auto& [path, right] : rules_) {
        struct stat status{};
        if ((right == Right::nothing || right == Right::read) && ::lstat(path.c_str(), &status) == 0 &&
            S_ISREG(status.st_mode)) {
            files_[{status.st_dev, status.st_ino}] = right;
        }
    }
}

std::map<std::string, FileRules::Right>::const_iterator FileRules::nearest(const std::string& path) const {
    for (std::string each = path; !each.empty(); each.resize(each.rfind('/'))) {
        const auto found = rules_.find(each);
        if (found != rules_.end()) {
            return found;
        }
    }
    return rules_.find("/");
}

FileRules::Right FileRules::right_at(const std::string& path) const {
    const auto rule = path.starts_with('/') ? nearest(path) : rules_.end();
    return rule == rules_.end() ? Right::nothing : rule->second;
}

FileRules::Right FileRules::right_of(const OpenNode& held) const {
    const auto file = files_.find({held.status.st_dev, held.status.st_ino});
    return file != files_.end() ? file->second : right_at(path_of(held));
}

bool FileRules::is_anonymous(const OpenNode& held) {
    const std::string path = path_of(held);
    return path.starts_with("pipe:[") || path.starts_with("socket:[") || path.starts_with("anon_inode:") ||
           (path.starts_with("/memfd:") && held.status.st_nlink == 0);
}

bool FileRules::may_read(const OpenNode& held) const {
    const std::string path = path_of(held);
    if (path == "/proc" || path.starts_with("/proc/")) {
        return may_read_in_proc(held, path);
    }
    return is_anonymous(held) || right_of(held) != Right::nothing;
}

bool FileRules::may_write(const OpenNode& held) const {
    return may_alter(held) || right_of(held) == Right::device;
}

bool FileRules::may_alter(const OpenNode& held) const {
    return is_anonymous(held) || right_of(held) == Right::write;
}

bool FileRules::may_make(const Place& place) const {
    return right_at(path_of(place)) == Right::write;
}

bool FileRules::is_pinned(const std::string& path) const {
    const std::string below = path + "/";
    const auto next = rules_.lower_bound(below);
    return rules_.contains(path) || (next != rules_.end() && next->first.starts_with(below));
}

bool FileRules::belong_together(const Place& a, const Place& b) const {
    return nearest(path_of(a)) == nearest(path_of(b));
}

bool FileRules::belong_together(const OpenNode& file, const Place& place) const {
    return is_anonymous(file) || nearest(path_of(file)) == nearest(path_of(place));
}

} // namespace cellgate::helper
