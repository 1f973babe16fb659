#pragma once
// Notes about files: a cell failed on a path, and the sandbox is why.

#include "protocol/messages/executions.hpp"
#include "sandbox/explain.hpp"
#include "session/failures.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::session {

// Of a kernel that was started.
struct StartedSandbox {
    sandbox::Profile profile;
    std::shared_ptr<const sandbox::Settings> file; // without what was added
    sandbox::Additions additions;
    sandbox::Environment environment;
    std::shared_ptr<const sandbox::KernelMounts> mounts;
};

// Nothing where the sandbox is not what stood in the way. What is offered is the path itself, which exists outside, for
// what was refused (to write it only where the error is one of writing), and would be granted. Its `path` is absolute.
// Whether a path that is not shown exists on this machine is for persons only: an agent could list your files with it.
// Looks at files, so it may block.
std::optional<protocol::Note> note_of_path(const StartedSandbox& sandbox, const FailedPath& failed, bool for_person);

} // namespace cellgate::session
