#include "daemon/instance_paths.hpp"

#include "service/sidecar.hpp"
#include "store/directories.hpp"

#include <fmt/format.h>

namespace cellgate::daemon {

namespace {

constexpr std::size_t max_socket_path_bytes = 107;

} // namespace

std::string InstancePaths::socket(protocol::Role role) const {
    return folder + (role == protocol::Role::user ? "/user.sock" : "/agent.sock");
}

InstancePaths find_instance_paths(const std::string& workspace, const Environment& environment) {
    InstancePaths paths;
    paths.workspace = service::canonical_workspace(workspace);
    const store::Directories directories = store::find_directories(environment);
    const std::string key = store::key_of_root(paths.workspace);
    const std::string instances = directories.runtime + "/roots";
    const std::string logs = directories.state + "/logs";
    paths.folder = fmt::format("{}/{}", instances, key);
    paths.log = fmt::format("{}/{}.log", logs, key);
    const std::string longest = paths.socket(protocol::Role::user);
    if (longest.size() > max_socket_path_bytes) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("expected the path of a socket to have at most {} bytes, found {}: {}",
                                max_socket_path_bytes, longest.size(), longest),
                    "set XDG_RUNTIME_DIR to a directory with a shorter name");
    }
    for (const std::string& folder : {directories.runtime, instances, paths.folder, directories.state, logs}) {
        store::make_private_directory(folder);
    }
    return paths;
}

} // namespace cellgate::daemon
