#pragma once
// `PathWalk` resolves a path of a caller as the caller's own system call would: from its working folder, its
// descriptors, and its root. It resolves one component at a time, for two reasons: "self" in /proc has to be the caller
// and not this process, and nothing of this process may be reached with our own rights.

#include "caller.hpp"
#include "descriptor.hpp"

#include <string>
#include <sys/stat.h>

namespace cellgate::helper {

// A file or folder that is held by an O_PATH descriptor, whatever becomes of its names.
struct OpenNode {
    UniqueFd descriptor;
    struct stat status{};
};

// A folder, and a name in it that may not exist: one component with the slashes that follow it; also ".", ".." and "/".
struct Place {
    OpenNode folder;
    std::string name;
};

class PathWalk {
  public:
    // One at a time: from now on, path_of() is by this caller's root.
    explicit PathWalk(const Caller& caller);

    // All throw CallError: what the lookup fails with, and EACCES for what is this process's own.

    OpenNode start(int descriptor) const;
    // All links are followed but one in the place itself.
    Place place(const OpenNode& start, std::string path);
    // What is in the place; a link is not followed.
    OpenNode look(const Place& place) const;
    // Where `link`, which was found at `place`, points to. Counts as one of the links that are allowed.
    Place follow_link(const Place& place, const OpenNode& link);
    // What is in the place, with all links followed.
    OpenNode follow(Place place);
    // Whether the way went through /proc, where the same path may lead each process, and each time, elsewhere.
    bool went_through_proc() const { return through_proc_; }

  private:
    OpenNode root() const;
    void enter(OpenNode& folder, std::string path);
    std::string link_text(const OpenNode& folder, const std::string& name, const OpenNode& link) const;
    void count_link();

    const Caller& caller_;
    int links_ = 0;
    bool through_proc_ = false;
};

// Whether a link in a folder is one of /proc's whose target may have no path, such as a process's descriptors.
bool leads_beyond_paths(const OpenNode& folder, const OpenNode& link);

// The path by which the system knows a held file now, from the root of the present caller. Empty when it has none, or
// one that is too long.
std::string path_of(const OpenNode& held);
// The path that the place is known by.
std::string path_of(const Place& place);

} // namespace cellgate::helper
