#pragma once
// `folder_watch` tells that a workspace still has the files that its last snapshot covers, and no others, without
// listing its folders: nothing came or went in a folder, no .gitignore file changed, and what was left out is as it
// was. Blocks.

#include "changes/snapshots.hpp"
#include "last_snapshot.hpp"
#include "workspace_scan.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace cellgate::changes {

// The state of all that the list of the snapshot's files depends on. What changed at `started` (nanoseconds, by the
// clock of files) or later, may change once more in that tick: it counts as different from then on.
std::vector<KeptFile> watch_folders(const LastSnapshot& snapshot, const WorkspaceFiles& workspace,
                                    std::int64_t started);

// What scan_workspace() would give; nothing where that is not certain.
std::optional<WorkspaceScan> scan_unchanged_folders(const LastSnapshot& last, const WorkspaceFiles& workspace,
                                                    const Options& options);

} // namespace cellgate::changes
