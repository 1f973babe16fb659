#include "launch/none_launcher.hpp"

#include "base/error.hpp"

namespace cellgate::sandbox {

constexpr IsolationTraits NoneLauncher::traits = {.name = "none", .installs = true};

void NoneLauncher::check_limits(const Limits& limits) const {
    if (limits.any()) {
        throw Error(ErrorCode::sandbox_unavailable,
                    "limits were asked for of a session without a sandbox, which has none",
                    "Leave out `limits`, or `sandbox: false`.");
    }
}

Launch NoneLauncher::wrap(async::Command command, const Profile& profile) {
    check_limits(profile.limits);
    command.environment.insert(environment_.begin(), environment_.end());
    if (command.cwd.empty()) {
        command.cwd = profile.workspace;
    }
    Launch launch;
    launch.command = std::move(command);
    launch.layers = {"none"};
    return launch;
}

} // namespace cellgate::sandbox
