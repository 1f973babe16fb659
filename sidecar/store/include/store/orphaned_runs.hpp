#pragma once
// `OrphanedRun` is a sidecar run of this workspace that crashed: its open sessions, and its executions with their
// results. All functions may block.

#include "base/clock.hpp"
#include "store/ledger.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::store {

struct OrphanedRun {
    std::string directory; // of its journals
    WallTime ended_at;     // its last write
    std::vector<std::string> sessions;
    std::vector<LedgerEntry> executions; // unfinished
};

// The runs that were not reported yet and had open sessions or unfinished executions. `parent` is the workspace's
// directory of journals.
std::vector<OrphanedRun> find_unreported_runs(const std::string& parent);
void mark_reported(const std::string& directory);

struct OrphanedExecution {
    std::string directory;
    LedgerEntry entry;
};

// The latest one with that id.
std::optional<OrphanedExecution> find_orphaned_execution(const std::string& parent, const std::string& execution_id);

} // namespace cellgate::store
