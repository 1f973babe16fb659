#pragma once
// `ControlGroup` is a control group of the system: its limits count for all processes in it together. It limits what
// the limits of processes cannot: memory files, shared mappings, scratch space, and root's processes. Groups are made
// below the one that this process is in itself, so that what limits us limits them. Of version 2 of control groups ours
// must have been given to us (delegated); of version 1 its folders must be ours to write, which they are for root.

#include "async/cleanup_registration.hpp"
#include "base/unique_fd.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::sandbox {

enum class GroupVersion { one, two };

// Where groups of this process can be made.
struct GroupPlace {
    GroupVersion version = GroupVersion::two;
    std::string folder;
};

struct GroupPlaces {
    std::optional<GroupPlace> memory;
    std::optional<GroupPlace> processes;
    std::optional<GroupPlace> processors;
    std::string problem; // why one of the first two is not there, and what would help
    std::string hint;
};

// What this process may do: proc/self/cgroup, proc/self/mountinfo and the folders that these name are read
// below `root`. Changes nothing.
GroupPlaces find_group_places(const std::string& root = "/");

struct GroupLimits {
    std::optional<std::uint64_t> memory_bytes;  // of all together: memory, caches that are in use, scratch files
    std::optional<std::uint64_t> process_count; // processes and threads of all together
    std::optional<double> cpu_cores = {};       // of all together: how many processors they may keep busy
};

class ControlGroup {
  public:
    // With those of the limits that a group can enforce here. Nothing when that is none of them; `problem` then says
    // why. Removes groups that ended sidecars left.
    static std::unique_ptr<ControlGroup> make(const GroupPlaces& places, const GroupLimits& limits,
                                              std::string& problem);
    ControlGroup(const ControlGroup&) = delete;
    ControlGroup& operator=(const ControlGroup&) = delete;
    // Removes it, when nothing runs in it any more; else, and after a crash, the janitor removes it.
    ~ControlGroup();

    // Gives those of the limits that it has new values. Throws Error{sandbox_unavailable} when the system refuses one,
    // such as less memory than its processes use; those before it in GroupLimits hold then. May be called off the loop.
    void change(const GroupLimits& limits);

    const std::vector<std::string>& folders() const { return folders_; }
    GroupLimits holds() const;               // the limits that it does have
    std::vector<std::string> layers() const; // "memory-cgroup", "process-cgroup", "processor-cgroup"

    // How many of its processes the system ended for want of memory so far.
    std::uint64_t memory_kills() const;
    // Whether it was this group's own limit that its memory met, and not the machine's end.
    bool memory_limit_was_met() const;

  private:
    ControlGroup() = default;
    void make_folder(const std::string& parent, const std::string& name);

    std::vector<std::string> folders_;
    std::vector<std::unique_ptr<async::CleanupRegistration>> cleanups_; // one for each folder
    std::vector<UniqueFd> locks_; // one for each folder: as long as it is held, no other process removes the folder
    mutable std::mutex mutex_;    // of holds_
    GroupLimits holds_;
    // Where each limit is.
    GroupPlace memory_;
    GroupPlace processes_;
    GroupPlace processors_;
};

} // namespace cellgate::sandbox
