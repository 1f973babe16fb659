#pragma once
// `inspect_paths` makes the notes for the paths on which an execution failed. It gives up after a second, since a file
// system may not answer; the rest of the inspection then still runs in `tasks`.

#include "async/loop.hpp"
#include "path_notes.hpp"

namespace cellgate::session {

Task<std::vector<protocol::Note>> inspect_paths(async::Loop& loop, TaskScope& tasks, StartedSandbox sandbox,
                                                std::vector<FailedPath> paths, bool for_user);

} // namespace cellgate::session
