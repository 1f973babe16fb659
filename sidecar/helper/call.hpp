#pragma once
// What all calls that the guard makes in a caller's place have in common: their paths are read once, and nothing is
// done before it is certain that they were the caller's.

#include "caller.hpp"
#include "access_policy.hpp"
#include "path_walk.hpp"

#include <cerrno>
#include <cstdint>
#include <string>

namespace cellgate::helper {

// How a call that must not be made fails: as it does where the file exists and is mounted read-only.
inline constexpr int kept = EROFS;

inline void require(bool done) {
    if (!done) {
        throw CallError{errno};
    }
}

// One argument is a folder's descriptor, the next a path.
struct Path {
    int folder;
    std::uint64_t text;
};

class Call {
  public:
    Call(const Caller& caller, const AccessPolicy& policy) : caller_(caller), policy_(policy) {}

  protected:
    struct Start {
        std::string text;
        OpenNode folder;
    };
    Start read(const Path& path) const;
    Start start_at(std::string text, int folder) const;
    // Before anything is done: that what was read was this caller's.
    void require_waiting() const;
    // What is there; a link in the last place is followed, or is itself what is meant. An empty path is the folder, if
    // that is allowed.
    OpenNode find(const Path& path, bool follow, bool may_be_empty = false) const;
    static OpenNode find_from(PathWalk& walk, const Start& start, bool follow);

    // NOLINTBEGIN(cppcoreguidelines-non-private-member-variables-in-classes)
    const Caller& caller_;
    const AccessPolicy& policy_;
    // NOLINTEND(cppcoreguidelines-non-private-member-variables-in-classes)
};

} // namespace cellgate::helper
