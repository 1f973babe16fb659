#pragma once
// `find_session` is a session of the workspace's sidecar by its id; `limits_text` and `defaults_text`
// are its limits for a terminal.

#include "protocol/messages/sessions.hpp"
#include "workspace_client.hpp"

#include <optional>
#include <string>

namespace cellgate::cli {

// Throws Error{session_not_found}.
Task<protocol::SessionInfo> find_session(WorkspaceClient* client, std::string id);

// Each limit on a line of its own: `memoryBytes 4294967296`.
std::string limits_text(const std::optional<protocol::Limits>& limits);
// What holds of a session where nothing was set: `memoryBytes 12884901888 (default)`.
std::string defaults_text(const protocol::SessionInfo& session);

} // namespace cellgate::cli
