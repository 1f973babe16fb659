#pragma once
// Where user namespaces are refused, by a user's choice: Landlock, filters of system calls, and a guard that makes
// each call that opens, names or alters a file, or connects a socket, in the cell's place. The rules are read off the
// same plan that bubblewrap would mount. No namespace holds anything apart, so it lacks what landlock_lacks() says.

#include "launch_steps.hpp"
#include "sandbox/launcher.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

class LandlockLauncher : public Launcher {
  public:
    explicit LandlockLauncher(Environment environment) : environment_(std::move(environment)) {}

    void check() override;
    Launch wrap(async::Command command, const Profile& profile) override;
    async::ExitStatus exit_of(async::ExitStatus outer) const override { return exit_of_helper(outer); }

  private:
    Environment environment_;
};

// Why it cannot be had here; empty: it can.
std::string why_no_landlock_launcher();

} // namespace cellgate::sandbox
