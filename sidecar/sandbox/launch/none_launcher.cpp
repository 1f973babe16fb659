#include "launch/none_launcher.hpp"

#include "base/error.hpp"

namespace cellgate::sandbox {

constexpr IsolationTraits NoneLauncher::traits = {.name = "none", .installs = true};

Launch NoneLauncher::wrap(async::Command command, const Profile& profile) {
    if (profile.limits.any()) {
        throw Error(ErrorCode::sandbox_unavailable,
                    "limits were asked for of a session without a sandbox, which has none",
                    "Leave out `limits`, or `sandbox: false`.");
    }
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
