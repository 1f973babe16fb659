#pragma once
// `note_of_path` is the note for a cell that failed on a path because of the sandbox.

#include "protocol/messages/executions.hpp"
#include "sandbox/explain.hpp"
#include "session/failures.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::session {

// The sandbox of a kernel that was started.
struct StartedSandbox {
    sandbox::Profile profile;
    std::shared_ptr<const sandbox::Settings> file; // without what was added
    sandbox::Additions additions;
    Environment environment;
    std::shared_ptr<const sandbox::KernelMounts> mounts;
};

// Nothing if the sandbox is not the cause. The note offers access to the path itself if it exists outside and the
// access would be granted: writing only for an error of writing, else reading. `failed.path` is absolute. Only a
// note for a user reveals whether a hidden path exists on this machine: an agent could list your files with it; its
// note names the workspace. May block (file system).
std::optional<protocol::Note> note_of_path(const StartedSandbox& sandbox, const FailedPath& failed, bool for_user);

} // namespace cellgate::session
