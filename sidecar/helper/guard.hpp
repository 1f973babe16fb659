#pragma once
// Keeps names from being given to files (protected_names.hpp) that do not exist when a sandbox starts, where a mount has
// nothing to be mounted on. A filter makes the system ask the guard about each call that can name a file; the guard
// makes the call itself, on its own copy of the paths, and hands over the result. So it does with the addresses of
// sockets: behind one in the workspace there may be a program of the machine's that does what it is told. It never lets
// one go on that it looked at: the caller's other threads could change the path in between.
//
// It stands in the first process of the sandbox (init.hpp), which no cell can look into or end. Without it, such calls
// fail. It answers one call at a time; what may wait for somebody (a FIFO's other end) waits in a process of its own.

#include "descriptor.hpp"
#include "access_policy.hpp"
#include "own_sockets.hpp"

#include <string>
#include <vector>

namespace cellgate::helper {

// Puts the filter before all calls of this process and those that it will make, for good. `filter` is compiled:
// an array of sock_filter. Returns where the calls are told; else errno says why: EINVAL before Linux 5.19, EBUSY when
// a program around us listens already.
UniqueFd install_filter(const std::string& filter);

// The same of a filter that asks nobody. False with errno.
bool filter_calls(const std::string& filter);

// Why calls could not be answered for here, though the filter can be had; empty: they could. A system may keep each
// process from looking into others, also into its own children.
std::string why_not_to_answer();

class Guard {
  public:
    Guard(UniqueFd listener, AccessPolicy policy);

    int listener() const { return listener_.get(); }
    // Answers the next call, if one waits.
    void answer_one();

  private:
    UniqueFd listener_;
    AccessPolicy policy_;
    OwnSockets own_sockets_;
};

} // namespace cellgate::helper
