#pragma once
// `Call` is the base of the classes that make system calls in a caller's place: it reads each path once, and checks
// that the caller still waits before anything is done, so that the paths were the caller's.

#include "access_policy.hpp"
#include "caller.hpp"
#include "path_walk.hpp"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
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

// The arguments of a system call, by their numbers, as what they are.
class CallArguments {
  public:
    explicit CallArguments(const seccomp_data& call) : call_(call) {}

    int number(std::size_t index) const { return static_cast<int>(call_.args[index]); }
    unsigned id(std::size_t index) const { return static_cast<unsigned>(call_.args[index]); }
    mode_t mode(std::size_t index) const { return static_cast<mode_t>(call_.args[index]); }
    // From the working folder.
    Path path(std::size_t index) const { return {AT_FDCWD, call_.args[index]}; }
    // The folder's descriptor is the argument before it.
    Path path_in(std::size_t index) const { return {number(index), call_.args[index + 1]}; }

  private:
    const seccomp_data& call_;
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
