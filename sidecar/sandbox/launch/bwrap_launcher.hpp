#pragma once
// `BwrapLauncher` is the launcher that uses bubblewrap: fresh user, mount, network, pid, ipc, uts and cgroup
// namespaces; a file system of allow-listed mounts with an empty home; no capabilities, no new privileges, no further
// user namespaces; a filter for system calls; a clean environment. bwrap receives all options over a descriptor, so
// that no value is in a command line that others can read, and none can act on bwrap.

#include "launch/launch_steps.hpp"
#include "sandbox/launcher.hpp"

namespace cellgate::sandbox {

class BwrapLauncher : public Launcher {
  public:
    static const IsolationTraits traits;

    explicit BwrapLauncher(Environment environment) : environment_(std::move(environment)) {}

    void check() override;
    Launch wrap(async::Command command, const Profile& profile) override;
    void check_limits(const Limits& limits) const override;
    async::ExitStatus exit_of(async::ExitStatus outer) const override { return exit_of_helper(outer); }

  private:
    Environment environment_;
};

} // namespace cellgate::sandbox
