#include "none_launcher.hpp"

namespace cellgate::sandbox {

Launch NoneLauncher::wrap(async::Command command, const Profile& profile) {
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
