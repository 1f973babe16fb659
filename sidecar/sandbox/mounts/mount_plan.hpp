#pragma once
// `MountPlan` is the list of what a sandbox's file system is made of: one entry for each place, in any order; the
// arguments for bwrap come out with parents before children, so that nothing covers what was put below it. The last
// entry for a place wins. Each entry has a reason, so that an explanation of a path always fits what is mounted.

#include "base/unique_fd.hpp"
#include "sandbox/cause.hpp"
#include "sandbox/descriptor.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cellgate::sandbox {

// Why an entry is in a plan.
struct Reason {
    std::string text; // "the workspace"
    Cause cause = Cause::baseline;
};

class MountPlan {
  public:
    // Of the entries that follow.
    void set_reason(Reason reason) { reason_ = std::move(reason); }

    void read_only(const std::string& source, const std::string& place);
    void read_only(const std::string& path) { read_only(path, path); }
    void read_write(const std::string& source, const std::string& place);
    void read_write(const std::string& path) { read_write(path, path); }
    void scratch(const std::string& place, std::uint64_t bytes, const char* permissions);
    void symlink(const std::string& target, const std::string& place);
    void file(std::string content, const std::string& place);
    // A copy of a small file of the machine: takes less time than a mount.
    void copy(const std::string& path);
    void unreadable_file(const std::string& place);
    void unreadable_directory(const std::string& place);
    // Lets through an unreadable directory to what is mounted below it; its names stay hidden.
    void open_passage(const std::string& place);
    // Removes the mount at `place`; mounts below it stay.
    void remove(const std::string& place) { entries_.erase(place); }
    // From now on nothing that is the machine's can be written at `place` and below it.
    void forbid_writing(const std::string& place);
    void proc();
    void devices();
    // One of the machine's devices, beside those that devices() makes.
    void device(const std::string& path);

    // Makes each folder between `top` and a place below it a mount of its own, as writable as before: a mount cannot be
    // renamed or removed, so what is below cannot be moved away and replaced by renaming a folder above it.
    void pin_folders(const std::string& top);

    // Whether the files of `path` are those of the machine, shown through one of the mounts.
    bool shows(const std::string& path) const;

    struct Bind {
        std::string source;
        std::string place;
    };
    // Those of `top` and below it, without what is in a folder that cannot be entered.
    std::vector<Bind> binds_within(const std::string& top) const;

    // Where something can be written, without what is in a folder that cannot be entered.
    std::vector<std::string> writable_places() const;

    // Places in which nothing is to be made, and to which nothing is to be moved, whether they hold something or not.
    void guard_place(const std::string& place) { guarded_places_.insert(place); }
    const std::set<std::string>& guarded_places() const { return guarded_places_; }

    // All that is mounted below `top`.
    std::vector<std::filesystem::path> places_below(const std::string& top) const;

    enum class Kind {
        machine,    // files of the machine
        scratch,    // empty and writable at first, gone at the end
        own,        // made for the sandbox
        link,       // a symlink
        unreadable, // hidden
    };
    struct Mounted {
        std::string place;
        Kind kind = Kind::own;
        bool writable = false;
        std::string source; // of a link, what it holds
        Reason reason;
    };
    // What decides about `path`: mounted at it or, nearest, above it.
    std::optional<Mounted> at(const std::string& path) const;

    // `first_descriptor` is the number under which bwrap finds the first of `files`.
    struct Arguments {
        std::vector<std::string> arguments;
        std::vector<UniqueFd> files;
    };
    Arguments arguments(int first_descriptor) const;

  private:
    struct Entry {
        std::vector<std::string> arguments; // the place comes last and is added
        Kind kind = Kind::own;
        bool writable = false;                       // and the machine's
        std::function<UniqueFd()> content = nullptr; // of a file that bwrap reads from a descriptor
        bool sealed = false;                         // made read-only once all is mounted
        bool closed = false;                         // a directory that cannot be entered
        Reason reason = {};
    };
    using Entries = std::map<std::filesystem::path, Entry>; // paths compare by component: parents come first

    void put(const std::string& place, Entry entry);
    bool can_be_reached(const std::filesystem::path& place) const;  // it is not in a closed directory
    Entries::const_iterator nearest(const std::string& path) const; // at `path` or above it; else end()

    Entries entries_;
    std::set<std::string> guarded_places_;
    Reason reason_;
};

// Makes the paths as they were given work: each link (its path, its target) that nothing shows yet.
void add_links(MountPlan& plan, const std::map<std::string, std::string>& links);

} // namespace cellgate::sandbox
