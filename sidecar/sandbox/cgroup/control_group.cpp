#include "sandbox/control_group.hpp"

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/regular_file.hpp"
#include "base/unique_fd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view group_prefix = "cellgate-";
// Where a sidecar of version 2 goes itself: a group that has groups with limits below it can have no processes.
constexpr const char* own_leaf = "cellgate.own";
constexpr const char* how_to_get_one = "To have one, start cellgate in a group of its own: `systemd-run --user --scope "
                                       "--quiet -p Delegate=yes cellgate …`. For an editor, whose setting names a "
                                       "program alone, put that into a script, with `\"$@\"` at its end.";

// Files of the kernel's own file systems: small, and they tell no size.
std::string text_of(const std::string& path) {
    constexpr std::size_t most = std::size_t{1} << 20;
    return read_regular_file(path, most).bytes;
}

bool has_word(const std::string& text, std::string_view word, char separator) {
    std::istringstream words(text);
    for (std::string each; std::getline(words, each, separator);) {
        if (each == word) {
            return true;
        }
    }
    return false;
}

std::string without_end_of_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

// "oom_kill 3" among other such lines.
std::uint64_t value_in(const std::string& text, std::string_view name) {
    std::istringstream lines(text);
    std::string found;
    std::uint64_t value = 0;
    while (lines >> found >> value) {
        if (found == name) {
            return value;
        }
    }
    return 0;
}

// 0, or the errno.
int write_to(const std::string& path, std::string_view text) {
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) {
        return errno;
    }
    return ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : errno;
}

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

std::vector<std::string> members_of(const std::string& folder) {
    std::vector<std::string> members;
    std::istringstream lines(text_of(folder + "/cgroup.procs"));
    for (std::string pid; std::getline(lines, pid);) {
        members.push_back(pid);
    }
    return members;
}

constexpr std::array controllers = {"memory", "pids"};

bool gives_to_groups_below(const std::string& folder) {
    const std::string given = without_end_of_line(text_of(folder + "/cgroup.subtree_control"));
    return std::all_of(controllers.begin(), controllers.end(),
                       [&given](const char* controller) { return has_word(given, controller, ' '); });
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
    const std::string available = without_end_of_line(text_of(folder + "/cgroup.controllers"));
    for (const char* controller : controllers) {
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

// Of version 2: lets the groups below have limits. A group whose groups have limits can itself have no processes, so
// they move into one below.
void give_to_groups_below(const std::string& folder) {
    if (gives_to_groups_below(folder)) {
        return;
    }
    const std::string control = folder + "/cgroup.subtree_control";
    int error = write_to(control, "+memory +pids");
    if (error == EBUSY) {
        const std::string leaf = folder + "/" + own_leaf;
        ::mkdir(leaf.c_str(), 0755);
        for (const std::string& pid : members_of(folder)) {
            write_to(leaf + "/cgroup.procs", pid); // who has ended meanwhile need not move
        }
        error = write_to(control, "+memory +pids");
    }
    if (error != 0) {
        throw system_error(ErrorCode::sandbox_unavailable, fmt::format("cannot write {}", control), error);
    }
}

// Nothing when somebody holds it: it is in use.
std::optional<UniqueFd> lock_folder(const std::string& folder) {
    UniqueFd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (lock.get() < 0 || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        return std::nullopt;
    }
    return lock;
}

// Removes groups that no process has locked: they are left over from a crash. rmdir refuses a group in which something
// still runs.
void clear_abandoned(const std::string& parent) {
    std::error_code error;
    for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().filename().string().starts_with(group_prefix)) {
            if (const std::optional<UniqueFd> lock = lock_folder(entry->path().string())) {
                ::rmdir(entry->path().c_str());
            }
        }
    }
}

void set_limit(const std::string& folder, const char* name, const std::string& value) {
    const std::string path = folder + "/" + name;
    if (const int error = write_to(path, value); error != 0) {
        throw system_error(ErrorCode::sandbox_unavailable, fmt::format("cannot write {} to {}", value, path), error);
    }
}

// Swapped memory counts too, or there is none. A system without swap, or that does not count it, has no such file.
// `before`: the limit that the group has, if any.
void limit_memory(const GroupPlace& group, std::uint64_t bytes, std::optional<std::uint64_t> before) {
    const std::string value = std::to_string(bytes);
    if (group.version == GroupVersion::two) {
        set_limit(group.folder, "memory.max", value);
        if (fs::exists(group.folder + "/memory.swap.max")) {
            set_limit(group.folder, "memory.swap.max", "0");
        }
        return;
    }
    std::vector<const char*> names{"memory.limit_in_bytes"};
    if (const char* with_swap = "memory.memsw.limit_in_bytes"; fs::exists(group.folder + "/" + with_swap)) {
        const bool raised = before && bytes > *before; // it is never less than the other one
        names.insert(raised ? names.begin() : names.end(), with_swap);
    }
    for (const char* name : names) {
        set_limit(group.folder, name, value);
    }
}

// In a tenth of a second they may use as much of it, on all processors together.
void limit_processors(const GroupPlace& group, double cores) {
    constexpr long period = 100'000; // microseconds
    constexpr long least = 1'000;    // that the system takes
    const long quota = std::max(least, std::lround(cores * period));
    if (group.version == GroupVersion::two) {
        set_limit(group.folder, "cpu.max", fmt::format("{} {}", quota, period));
        return;
    }
    set_limit(group.folder, "cpu.cfs_period_us", std::to_string(period));
    set_limit(group.folder, "cpu.cfs_quota_us", std::to_string(quota));
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
        if (both && has_word(without_end_of_line(text_of(both->folder + "/cgroup.controllers")), "cpu", ' ')) {
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

std::unique_ptr<ControlGroup> ControlGroup::make(const GroupPlaces& places, const GroupLimits& limits,
                                                 std::string& problem) {
    const bool with_memory = limits.memory_bytes && places.memory;
    const bool with_processes = limits.process_count && places.processes;
    const bool with_processors = limits.cpu_cores && places.processors;
    if (!with_memory && !with_processes && !with_processors) {
        problem = places.problem;
        return nullptr;
    }
    std::unique_ptr<ControlGroup> group(new ControlGroup);
    try {
        const std::string name = std::string(group_prefix) + random_id();
        // Of version 2 all are in one folder.
        const auto make_folder = [&group, &name](const GroupPlace& place) {
            const std::string folder = place.folder + "/" + name;
            std::vector<std::string>& made = group->folders_;
            if (std::find(made.begin(), made.end(), folder) == made.end()) {
                group->make_folder(place.folder, name);
                if (place.version == GroupVersion::two) {
                    give_to_groups_below(place.folder);
                }
            }
            return GroupPlace{place.version, folder};
        };
        if (with_memory) {
            group->memory_ = make_folder(*places.memory);
        }
        if (with_processes) {
            group->processes_ = make_folder(*places.processes);
        }
        if (with_processors) {
            group->processors_ = make_folder(*places.processors);
            if (places.processors->version == GroupVersion::two) {
                set_limit(places.processors->folder, "cgroup.subtree_control", "+cpu");
            }
        }
        group->change(limits);
    } catch (const Error& error) {
        problem = error.message;
        return nullptr;
    }
    return group;
}

void ControlGroup::make_folder(const std::string& parent, const std::string& name) {
    clear_abandoned(parent);
    const std::string folder = parent + "/" + name;
    cleanups_.push_back(std::make_unique<async::CleanupRegistration>(async::CleanupKind::control_group, folder));
    // Between its making and its lock another sidecar may take it for a crash's.
    constexpr int max_tries = 10;
    for (int tries = 0; tries < max_tries; ++tries) {
        if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
            throw system_error(ErrorCode::sandbox_unavailable, fmt::format("cannot make the control group {}", folder),
                               errno);
        }
        std::optional<UniqueFd> lock = lock_folder(folder);
        struct stat held{};
        struct stat there{};
        if (lock && ::fstat(lock->get(), &held) == 0 && ::stat(folder.c_str(), &there) == 0 &&
            held.st_ino == there.st_ino) {
            folders_.push_back(folder);
            locks_.push_back(std::move(*lock));
            return;
        }
    }
    throw Error(ErrorCode::sandbox_unavailable, fmt::format("the control group {} is removed again and again", folder));
}

void ControlGroup::change(const GroupLimits& limits) {
    const GroupLimits before = holds();
    const auto note = [this](auto GroupLimits::* limit, const auto& value) {
        const std::lock_guard lock(mutex_);
        holds_.*limit = value;
    };
    if (limits.memory_bytes && !memory_.folder.empty()) {
        limit_memory(memory_, *limits.memory_bytes, before.memory_bytes);
        note(&GroupLimits::memory_bytes, limits.memory_bytes);
    }
    if (limits.process_count && !processes_.folder.empty()) {
        set_limit(processes_.folder, "pids.max", std::to_string(*limits.process_count));
        note(&GroupLimits::process_count, limits.process_count);
    }
    if (limits.cpu_cores && !processors_.folder.empty()) {
        limit_processors(processors_, *limits.cpu_cores);
        note(&GroupLimits::cpu_cores, limits.cpu_cores);
    }
}

GroupLimits ControlGroup::holds() const {
    const std::lock_guard lock(mutex_);
    return holds_;
}

ControlGroup::~ControlGroup() {
    for (const std::string& folder : folders_) {
        // Who has ended leaves its group a moment later.
        constexpr int max_tries = 20;
        const timespec moment{0, 1'000'000};
        for (int tries = 0; ::rmdir(folder.c_str()) != 0 && errno == EBUSY && tries < max_tries; ++tries) {
            ::nanosleep(&moment, nullptr);
        }
    }
}

std::vector<std::string> ControlGroup::layers() const {
    const GroupLimits holds = this->holds();
    std::vector<std::string> layers;
    if (holds.memory_bytes) {
        layers.emplace_back("memory-cgroup");
    }
    if (holds.process_count) {
        layers.emplace_back("process-cgroup");
    }
    if (holds.cpu_cores) {
        layers.emplace_back("processor-cgroup");
    }
    return layers;
}

std::uint64_t ControlGroup::memory_kills() const {
    if (memory_.folder.empty()) {
        return 0;
    }
    return value_in(
        text_of(memory_.folder + (memory_.version == GroupVersion::two ? "/memory.events" : "/memory.oom_control")),
        "oom_kill");
}

bool ControlGroup::memory_limit_was_met() const {
    if (memory_.folder.empty()) {
        return false;
    }
    if (memory_.version == GroupVersion::two) {
        return value_in(text_of(memory_.folder + "/memory.events"), "oom") > 0;
    }
    // How often it was met (memory.failcnt) is not counted by every kernel. The most that was used comes as near to it
    // as memory is charged in one go.
    constexpr std::uint64_t charged_at_once = std::uint64_t{1} << 20;
    for (const char* name : {"/memory.max_usage_in_bytes", "/memory.memsw.max_usage_in_bytes"}) {
        std::istringstream file(text_of(memory_.folder + name));
        std::uint64_t most = 0;
        if (file >> most && most + charged_at_once >= *holds().memory_bytes) {
            return true;
        }
    }
    return false;
}

} // namespace cellgate::sandbox
