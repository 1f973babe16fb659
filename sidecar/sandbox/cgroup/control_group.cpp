#include "sandbox/control_group.hpp"

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/unique_fd.hpp"
#include "cgroup/group_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

using group_files::gives_to_groups_below;
using group_files::members_of;
using group_files::own_leaf;
using group_files::text_of;
using group_files::write_to;

constexpr std::string_view group_prefix = "cellgate-";

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
