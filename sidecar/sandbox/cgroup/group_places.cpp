// find_group_places: where the system lets this process make control groups.

#include "cgroup/group_files.hpp"
#include "sandbox/control_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <sys/xattr.h>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

using group_files::gives_to_groups_below;
using group_files::has_word;
using group_files::members_of;
using group_files::own_leaf;
using group_files::text_of;
using group_files::words_of;

constexpr const char* how_to_get_one = "To have one, start cellgate in a group of its own: `systemd-run --user --scope "
                                       "--quiet -p Delegate=yes cellgate …`. For an editor, whose setting names a "
                                       "program alone, put that into a script, with `\"$@\"` at its end.";

struct Mount {
    GroupVersion version = GroupVersion::two;
    std::string top;     // of the hierarchy, what is mounted
    std::string folder;  // where
    std::string options; // of version 1: the controllers among them
};

// In /proc, a space of a path is \040 and so on.
std::string unescape(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            result += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
            i += 3;
        } else {
            result += text[i];
        }
    }
    return result;
}

std::vector<Mount> read_mounts(const std::string& mountinfo) {
    std::vector<Mount> mounts;
    std::istringstream lines(mountinfo);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t dash = line.find(" - cgroup"); // of both versions; the others are many
        if (dash == std::string::npos) {
            continue;
        }
        std::istringstream before(line.substr(0, dash));
        std::istringstream after(line.substr(dash + 3));
        std::string id;
        std::string parent;
        std::string device;
        std::string top;
        std::string folder;
        std::string type;
        std::string source;
        std::string options;
        before >> id >> parent >> device >> top >> folder;
        after >> type >> source >> options;
        if (type == "cgroup" || type == "cgroup2") {
            mounts.push_back(
                {type == "cgroup" ? GroupVersion::one : GroupVersion::two, unescape(top), unescape(folder), options});
        }
    }
    return mounts;
}

struct Membership {
    std::string controllers; // empty: version 2
    std::string path;
};

std::vector<Membership> read_memberships(const std::string& cgroup) {
    std::vector<Membership> found;
    std::istringstream lines(cgroup);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second != std::string::npos) {
            found.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
        }
    }
    return found;
}

// The folder of a group, empty when the mount does not show it.
std::string folder_of(const Mount& mount, const std::string& path, const std::string& root) {
    std::string below = path;
    if (mount.top != "/") {
        if (path != mount.top && !path.starts_with(mount.top + "/")) {
            return {};
        }
        below = path.substr(mount.top.size());
    }
    if (below.find("/..") != std::string::npos) {
        return {}; // outside of the namespace that we are in
    }
    std::string folder = (root == "/" ? "" : root) + mount.folder + (below == "/" ? "" : below);
    return folder;
}

bool writable(const std::string& path) {
    return ::access(path.c_str(), W_OK) == 0;
}

std::optional<GroupPlace> place_of_version_one(std::string_view controller, const std::vector<Mount>& mounts,
                                               const std::vector<Membership>& memberships, const std::string& root,
                                               std::string& problem) {
    const auto mount = std::find_if(mounts.begin(), mounts.end(), [&](const Mount& each) {
        return each.version == GroupVersion::one && has_word(each.options, controller, ',');
    });
    const auto membership = std::find_if(memberships.begin(), memberships.end(), [&](const Membership& each) {
        return has_word(each.controllers, controller, ',');
    });
    if (mount == mounts.end() || membership == memberships.end()) {
        return std::nullopt;
    }
    const std::string folder = folder_of(*mount, membership->path, root);
    if (folder.empty()) {
        problem = fmt::format("our control group for {} is not shown here", controller);
        return std::nullopt;
    }
    if (!writable(folder)) {
        problem = fmt::format("our control group for {}, {}, cannot be written: {}", controller, folder,
                              std::strerror(errno));
        return std::nullopt;
    }
    return GroupPlace{GroupVersion::one, folder};
}

// Whether it is this program that runs as `pid`, or its helper, which was started from memory.
bool is_cellgate(const std::string& pid) {
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/exe", error);
    const fs::path program = fs::read_symlink("/proc/" + pid + "/exe", error);
    return !error && (program == own || program == "/memfd:cellgate-helper (deleted)");
}

std::optional<GroupPlace> place_of_version_two(const std::vector<Mount>& mounts,
                                               const std::vector<Membership>& memberships, const std::string& root,
                                               std::string& problem) {
    const auto mount =
        std::find_if(mounts.begin(), mounts.end(), [](const Mount& each) { return each.version == GroupVersion::two; });
    const auto membership = std::find_if(memberships.begin(), memberships.end(),
                                         [](const Membership& each) { return each.controllers.empty(); });
    if (mount == mounts.end() || membership == memberships.end()) {
        problem = "this machine has no control groups that we can see";
        return std::nullopt;
    }
    std::string folder = folder_of(*mount, membership->path, root);
    if (folder.ends_with(std::string("/") + own_leaf)) {
        folder.erase(folder.rfind('/')); // this sidecar went there to make groups beside it
    }
    if (folder.empty()) {
        problem = "our control group is not shown here";
        return std::nullopt;
    }
    const std::string available = words_of(folder + "/cgroup.controllers");
    for (const char* controller : {"memory", "pids"}) {
        if (!has_word(available, controller, ' ')) {
            problem = fmt::format("our control group, {}, has no controller for {}", folder, controller);
            return std::nullopt;
        }
    }
    for (const char* name : {"", "/cgroup.procs", "/cgroup.subtree_control"}) {
        if (!writable(folder + name)) {
            problem = fmt::format("our control group was not given to us: {}{} cannot be written: {}", folder, name,
                                  std::strerror(errno));
            return std::nullopt;
        }
    }
    // systemd marks what it gave away. Elsewhere only our own processes may be moved below.
    char mark = 0;
    const bool ours = ::getxattr(folder.c_str(), "user.delegate", &mark, sizeof mark) == 1 && mark == '1';
    const std::vector<std::string> members = members_of(folder);
    if (!ours && !gives_to_groups_below(folder) && !std::all_of(members.begin(), members.end(), is_cellgate)) {
        problem = fmt::format("other programs run in our control group, {}", folder);
        return std::nullopt;
    }
    return GroupPlace{GroupVersion::two, folder};
}

} // namespace

GroupPlaces find_group_places(const std::string& root) {
    const std::string proc = (root == "/" ? "" : root) + "/proc/self/";
    const std::vector<Mount> mounts = read_mounts(text_of(proc + "mountinfo"));
    const std::vector<Membership> memberships = read_memberships(text_of(proc + "cgroup"));
    GroupPlaces places;
    std::string of_one;
    places.memory = place_of_version_one("memory", mounts, memberships, root, of_one);
    places.processes = place_of_version_one("pids", mounts, memberships, root, of_one);
    std::string of_processors;
    places.processors = place_of_version_one("cpu", mounts, memberships, root, of_processors);
    if (!places.memory && !places.processes && of_one.empty()) {
        const std::optional<GroupPlace> both = place_of_version_two(mounts, memberships, root, places.problem);
        places.memory = both;
        places.processes = both;
        if (both && has_word(words_of(both->folder + "/cgroup.controllers"), "cpu", ' ')) {
            places.processors = both;
        }
        places.hint = both ? "" : how_to_get_one;
    } else if (!places.memory || !places.processes) {
        places.problem = of_one.empty() ? "only some of the controllers are mounted" : of_one;
        places.hint = "Version 1 of control groups is root's; with version 2 alone (Debian 11, Ubuntu 22.04 and newer) "
                      "an ordinary user can have one too.";
    }
    return places;
}

} // namespace cellgate::sandbox
