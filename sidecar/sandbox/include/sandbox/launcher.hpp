#pragma once
// `Launcher` is what turns a command into the sandboxed command, and says which layers of isolation then hold. It never
// falls back: what it cannot isolate as asked it refuses with Error{sandbox_unavailable} and a hint that says exactly
// what to do. What the launchers differ in for the rest of the program are its traits (isolation.hpp).

#include "async/process.hpp"
#include "base/environment.hpp"
#include "sandbox/isolation.hpp"
#include "sandbox/launch.hpp"
#include "sandbox/profile.hpp"

#include <memory>

namespace cellgate::sandbox {

class Launcher {
  public:
    virtual ~Launcher() = default;

    // Throws Error{sandbox_unavailable} when this isolation is not available on this machine. Success is remembered;
    // after a failure the next call looks again. wrap() calls it, so no caller can forget to.
    virtual void check() = 0;

    // `command.environment` holds what the process gets beside the launcher's base: under bwrap a clean one, under none
    // this process's. An empty `command.cwd` is the workspace. Takes milliseconds of file system work, so it may be
    // called off the loop. Throws Error{config_invalid} for a profile that cannot be isolated ("/" as workspace), and
    // Error{sandbox_unavailable} for a limit that the system cannot enforce.
    virtual Launch wrap(async::Command command, const Profile& profile) = 0;

    // Throws the Error{sandbox_unavailable} that wrap() would throw for these limits. May be called off the loop.
    virtual void check_limits(const Limits& limits) const = 0;

    // How the wrapped command ended, given how the process around it did.
    virtual async::ExitStatus exit_of(async::ExitStatus outer) const = 0;
};

// `environment` is this process's own (process_environment()): PATH, HOME, language and time zone are taken from it.
std::unique_ptr<Launcher> make_launcher(Isolation isolation, Environment environment);

} // namespace cellgate::sandbox
