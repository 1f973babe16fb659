#pragma once
// `MountPlan` is what a sandbox's file system consists of, as plain data: one `Mount` for each place, parents before
// children, so that nothing covers what was put below it; the last one for a place wins. Launchers render it in their
// own terms (launch/bwrap_mounts.hpp, launch/confinement.hpp). Each mount has a reason, so that an explanation of a
// path always fits what is mounted.

#include "sandbox/cause.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace cellgate::sandbox {

// Why a mount is in a plan.
struct Reason {
    std::string text; // "the workspace"
    Cause cause = Cause::baseline;
};

struct Mount {
    enum class Kind {
        bind,             // the machine's file or folder `source`
        device,           // the machine's device `source`
        copy,             // of the machine's small file `source`, read-only: takes less time than a bind; with `mode`
        file,             // made for the sandbox, with `content`, read-only
        scratch,          // empty and writable at first, removed at the end: at most `bytes`, with `mode`
        symlink,          // that holds `source`
        hidden_file,      // cannot be opened: `source`, /dev/null, where no device works
        hidden_directory, // cannot be entered or listed
        passage,          // cannot be listed; what is mounted below it can be reached
        proc,             // with the sandbox's processes
        devices,          // the harmless ones
    };

    std::string place;
    Kind kind = Kind::bind;
    std::string source = {};
    std::string content = {};
    bool writable = false; // a bind: its files are the machine's
    std::uint64_t bytes = 0;
    mode_t mode = 0;
    Reason reason = {};

    // The machine's path of what is shown at `path`, in a bind.
    std::string machine_path(const std::string& path) const { return source + path.substr(place.size()); }
    bool shows_machine() const { return kind == Kind::bind || kind == Kind::device || kind == Kind::copy; }
    bool is_hidden() const {
        return kind == Kind::hidden_file || kind == Kind::hidden_directory || kind == Kind::passage;
    }
};

class MountPlan {
  public:
    using Mounts = std::map<std::filesystem::path, Mount>; // paths compare by component: parents come first

    // Of the mounts that follow.
    void set_reason(Reason reason) { reason_ = std::move(reason); }

    // Replaces the mount at its place; its reason is the one that was set.
    void put(Mount mount);
    void read_only(const std::string& path) { put({.place = path, .source = path}); }
    void read_write(const std::string& path) { put({.place = path, .source = path, .writable = true}); }
    void hide_file(const std::string& place);
    void hide_directory(const std::string& place);
    void file(std::string content, const std::string& place);
    // Lets through a hidden directory to what is mounted below it; its names stay hidden.
    void open_passage(const std::string& place);
    // Removes the mount at `place`; mounts below it stay.
    void remove(const std::string& place) { mounts_.erase(place); }
    // From now on nothing that is the machine's can be written at `place` and below it.
    void forbid_writing(const std::string& place);

    // Makes each folder between `top` and a place below it a mount of its own, as writable as before: a mount cannot be
    // renamed or removed, so what is below cannot be moved away and replaced by renaming a folder above it.
    void pin_folders(const std::string& top);

    const Mounts& mounts() const { return mounts_; }
    // The mount that decides about `path`: at it or, nearest, above it; nullptr where there is none. Valid until it is
    // removed or replaced.
    const Mount* at(const std::string& path) const;
    // Whether the files of `path` are those of the machine, shown through one of the mounts.
    bool shows(const std::string& path) const;
    // All places of mounts below `top`.
    std::vector<std::filesystem::path> places_below(const std::string& top) const;

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

  private:
    bool can_be_reached(const std::filesystem::path& place) const; // it is not in a hidden directory

    Mounts mounts_;
    std::set<std::string> guarded_places_;
    Reason reason_;
};

// Makes the paths as they were given work: each link (its path, its target) that nothing shows yet.
void add_links(MountPlan& plan, const std::map<std::string, std::string>& links);

} // namespace cellgate::sandbox
