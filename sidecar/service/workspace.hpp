#pragma once
// `Workspace` is the folder that a sidecar serves, with what its sessions have unless they ask for something else.

#include "base/environment.hpp"
#include "profiles.hpp"
#include "service/sidecar.hpp"
#include "session/session_options.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::service {

inline constexpr std::string_view default_session_id = "default";

struct Workspace {
    std::string path;        // canonical
    Environment environment; // of this process, without `secrets`
    Environment secrets;     // of CELLGATE_SECRET_NAME, by NAME: no program gets them by itself
    std::shared_ptr<const sandbox::Settings> settings; // for sessions that name none
    std::optional<protocol::Profile> profile;          // the same

    // Absolute; a relative path is relative to the workspace. Throws Error{invalid_params}.
    std::string resolve(const std::string& relative) const;
    // For a session that is created without options.
    session::SessionOptions default_session() const;
};

// Reads the settings. Throws Error{config_invalid} if they or the workspace cannot be used.
Workspace open_workspace(const SidecarOptions& options);

} // namespace cellgate::service
