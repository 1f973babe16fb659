#pragma once
// What sidecars of a root that ended without a goodbye have left among its journals: what they were doing, and how what
// they ran has ended. All of it may block.

#include "base/clock.hpp"
#include "store/ledger.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::store {

struct LeftRun {
    std::string directory; // its journals
    WallTime ended_at;     // the last sign of life
    std::vector<std::string> sessions;
    std::vector<LedgerEntry> executions; // that had not finished
};

// Those of which nobody was told, and that had something to lose. `parent` is the root's directory of journals.
std::vector<LeftRun> find_untold_runs(const std::string& parent);
void mark_told(const std::string& directory);

struct LeftExecution {
    std::string directory;
    LedgerEntry entry;
};

// Of that id, the latest one.
std::optional<LeftExecution> find_left_execution(const std::string& parent, const std::string& execution_id);

} // namespace cellgate::store
