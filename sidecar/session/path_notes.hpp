#pragma once
// Notes about files: a cell failed on a path, and the sandbox is why.

#include "protocol/messages/executions.hpp"
#include "sandbox/explain.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::session {

// The paths that Python's OSError names in its text ("[Errno 2] No such file or directory: 'data.csv'"), as far as they
// are plain; at most two. The text is the code's word.
std::vector<std::string> paths_in_error(const std::string& evalue);

// Of a kernel that was started.
struct StartedSandbox {
    sandbox::Profile profile;
    std::shared_ptr<const sandbox::Settings> file; // without what was added
    sandbox::Additions additions;
    sandbox::Environment environment;
    std::shared_ptr<const sandbox::KernelMounts> mounts;
};

// Nothing where the sandbox is not what stood in the way. What is offered would be granted. `path` is absolute. Whether
// a path that is not shown exists on this machine is for persons only: an agent could list your files with it. Looks at
// files, so it may block.
std::optional<protocol::Note> note_of_path(const StartedSandbox& sandbox, const std::string& path, bool for_person);

} // namespace cellgate::session
