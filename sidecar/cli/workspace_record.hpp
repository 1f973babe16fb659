#pragma once
// `record_directory_of` is the folder of a workspace's record, which may not be there yet.

#include "base/environment.hpp"
#include "daemon/instance_paths.hpp"
#include "store/directories.hpp"

#include <string>

namespace cellgate::cli {

inline std::string record_directory_of(const std::string& workspace) {
    const Environment environment = process_environment();
    const daemon::InstancePaths paths = daemon::find_instance_paths(workspace, environment);
    return store::record_directory(store::find_directories(environment), paths.workspace);
}

} // namespace cellgate::cli
