#pragma once
// `Guard` keeps code in a sandbox from creating files with protected names (protected_names.hpp), which no mount can
// cover as long as they do not exist. A seccomp filter sends each call that can name a file to the guard; the guard
// makes the call itself, on its own copy of the path, and hands over the result. It does the same with the addresses of
// sockets: a program outside that obeys its clients may listen on a socket in the workspace. It never lets a judged
// call continue: the caller's other threads could change the path in between.
//
// It runs in the first process of the sandbox (init.hpp), which no cell can look into or end. Without it, such calls
// fail. It answers one call at a time; a call that may block (on a FIFO's other end) waits in a process of its own.

#include "access_policy.hpp"
#include "descriptor.hpp"
#include "own_sockets.hpp"

#include <string>
#include <vector>

namespace cellgate::helper {

// Installs the filter for this process and its future children, for good. `filter` is compiled: an array of
// sock_filter. Returns the descriptor on which the calls arrive; else errno says why: EINVAL before Linux 5.19, EBUSY
// when a program around us listens already.
UniqueFd install_filter(const std::string& filter);

// The same for a filter without notifications. False with errno.
bool filter_calls(const std::string& filter);

// Why calls could not be answered here although the filter is available; empty: they could. A system may keep each
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
