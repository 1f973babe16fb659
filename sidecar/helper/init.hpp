#pragma once
// `Init` is the first process of a sandbox for as long as the sandbox lives: it reaps processes, answers the guard's
// calls (guard.hpp), and ends as the command did, and all other processes with it. No process in the sandbox can end
// it, trace it, or read its memory.

#include "guard.hpp"

#include <optional>
#include <sys/resource.h>
#include <sys/types.h>

namespace cellgate::helper {

inline constexpr int cannot_prepare = 125; // as env and nohup end for a reason of their own

class Init {
  public:
    // Returns twice, as fork() does: true in the command's process, which is then a session of its own. Ends this one
    // when it cannot.
    bool fork_command(bool guarded);

    // In the command's process: puts the filter before its calls and gives the listener to the other one. False with
    // errno.
    bool guard_calls(const std::string& filter);

    // In the first process. When the command was killed for its limit of processor time, reports SIGXCPU: from outside,
    // such a SIGKILL could not be told from any other.
    // Ends with `lifeline` (async::Command::lifeline_fd), if there is one.
    [[noreturn]] void live(std::optional<AccessPolicy> policy, std::optional<rlim_t> cpu_seconds, UniqueFd lifeline);

  private:
    void reap(std::optional<rlim_t> cpu_seconds) const;

    pid_t command_ = 0;
    UniqueFd way_; // between the two, for the listener
};

} // namespace cellgate::helper
