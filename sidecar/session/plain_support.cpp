#include "plain_support.hpp"

namespace cellgate::session {

KernelLaunch PlainSupport::launch(const LaunchPlace& place, Environment environment) const {
    KernelLaunch launch;
    launch.argv = jupyter::launch_argv(choice_, place.connection_file);
    launch.environment = std::move(environment);
    add_wrapper_path(launch.environment, place); // for Python programs that its code starts
    return launch;
}

} // namespace cellgate::session
