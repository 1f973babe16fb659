#pragma once
// `LandlockLauncher` is the launcher for machines that refuse user namespaces, when a user chooses it: Landlock,
// filters of system calls, and a guard that makes each call that opens, names or alters a file, or connects a socket,
// in the cell's place. The rules are read off the same plan that bubblewrap would mount. There are no namespaces, so it
// has limitations (LandlockLauncher::traits).

#include "launch/launch_steps.hpp"
#include "sandbox/launcher.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

class LandlockLauncher : public Launcher {
  public:
    static const IsolationTraits traits;

    explicit LandlockLauncher(Environment environment) : environment_(std::move(environment)) {}

    void check() override;
    Launch wrap(async::Command command, const Profile& profile) override;
    void check_limits(const Limits& limits) const override;
    async::ExitStatus exit_of(async::ExitStatus outer) const override { return exit_of_helper(outer); }

  private:
    Environment environment_;
};

// Why it is not available here; empty: it is.
std::string why_no_landlock_launcher();

} // namespace cellgate::sandbox
