#pragma once
// `GvisorLauncher` is the launcher that uses gVisor (`runsc`): the command's system calls are answered by a kernel of
// its own, in user space, so that a flaw in the machine's kernel is out of its reach. That kernel runs in bubblewrap's
// namespaces, with the mounts, the guard, the limits and the end of every other sandbox (bwrap_start.hpp): runsc keeps
// its state in there, so nothing of it can be left behind. The helper is there twice: `enter` around runsc checks the
// mounts and guards names, `enter` in it carries the network and sets the limits of processes.

#include "launch/launch_steps.hpp"
#include "sandbox/launcher.hpp"

namespace cellgate::sandbox {

class GvisorLauncher : public Launcher {
  public:
    static const IsolationTraits traits;

    explicit GvisorLauncher(Environment environment) : environment_(std::move(environment)) {}

    void check() override;
    Launch wrap(async::Command command, const Profile& profile) override;
    void check_limits(const Limits& limits) const override;
    async::ExitStatus exit_of(async::ExitStatus outer) const override { return exit_of_helper(outer); }

  private:
    Environment environment_;
};

// runsc's path. Throws Error{sandbox_unavailable} with how to install it.
std::string find_runsc(const std::vector<std::string>& directories);

// For `cellgate doctor`: runsc's path and version. Throws what check() does.
std::string describe_gvisor(const Environment& environment);

} // namespace cellgate::sandbox
