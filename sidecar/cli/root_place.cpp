#include "root_place.hpp"

#include "service/sidecar.hpp"
#include "store/directories.hpp"

#include <fmt/format.h>

namespace cellgate::cli {

namespace {

constexpr std::size_t longest_socket_path = 107;

} // namespace

std::string RootPlace::socket(protocol::Role role) const {
    return folder + (role == protocol::Role::person ? "/person.sock" : "/agent.sock");
}

RootPlace find_root_place(const std::string& root, const sandbox::Environment& environment) {
    RootPlace place;
    place.root = service::canonical_root(root);
    const store::Directories directories = store::find_directories(environment);
    const std::string key = store::key_of_root(place.root);
    const std::string roots = directories.runtime + "/roots";
    const std::string logs = directories.state + "/logs";
    place.folder = fmt::format("{}/{}", roots, key);
    place.log = fmt::format("{}/{}.log", logs, key);
    const std::string longest = place.socket(protocol::Role::person);
    if (longest.size() > longest_socket_path) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("expected the path of a socket to have at most {} bytes, found {}: {}",
                                longest_socket_path, longest.size(), longest),
                    "set XDG_RUNTIME_DIR to a directory with a shorter name");
    }
    for (const std::string& folder : {directories.runtime, roots, place.folder, directories.state, logs}) {
        store::make_private_directory(folder);
    }
    return place;
}

} // namespace cellgate::cli
