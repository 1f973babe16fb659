#pragma once
// `Caller` is the thread that waits while the guard (guard.hpp) answers its system call. Everything about it is copied
// once, then judged and used: its other threads may change its memory and its descriptors at any time.

#include "descriptor.hpp"

#include <cstdint>
#include <linux/seccomp.h>
#include <string>
#include <sys/stat.h>
#include <sys/types.h>

namespace cellgate::helper {

// How a call ends: an errno. Thrown.
struct CallError {
    int error;
};

class Caller {
  public:
    Caller(int listener, const seccomp_notif& call) : listener_(listener), call_(call) {}

    pid_t thread() const { return static_cast<pid_t>(call_.pid); }
    const seccomp_data& call() const { return call_.data; }

    // Whether it still waits. If so, all that was read before was read of it, and of no later owner of its number.
    bool waits() const;

    // A path or link's text. Throws EFAULT, ENAMETOOLONG.
    std::string text(std::uint64_t address) const;
    // Exactly so many bytes. Throws EFAULT.
    std::string bytes(std::uint64_t address, std::size_t size) const;
    // What a call starts from: the working folder for AT_FDCWD. An O_PATH descriptor. Throws EBADF, EACCES.
    UniqueFd opened(int descriptor) const;
    // Where its absolute paths start. Ours, but for a runtime in the sandbox, such as runsc.
    UniqueFd root() const;
    // The caller's own open file, not a new one for the same path: for calls on sockets. Throws EBADF, EPERM.
    UniqueFd shared(int descriptor) const;
    pid_t process() const;
    mode_t umask() const;

    // Each ends the call. The second gives it a copy of `file`, as number and result; with O_CLOEXEC in `flags` it is
    // closed by exec.
    void answer(int error) const;
    void give(const UniqueFd& file, int flags) const;

  private:
    int listener_;
    seccomp_notif call_;
};

} // namespace cellgate::helper
