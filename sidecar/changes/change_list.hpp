#pragma once
// `difference` compares two snapshots: what is in both, or in one and was certainly not in the workspace at the time of
// the other. It reads only the folders that differ. `describe` makes of it what a user sees. Both block, with the
// ObjectReader's errors.

#include "changes/snapshots.hpp"
#include "object_reader.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::changes {

struct TreeChange {
    std::optional<TreeEntry> before;
    std::optional<TreeEntry> after;

    const std::string& path() const { return before ? before->path : after->path; }
};

struct TreeDifference {
    std::vector<TreeChange> changes; // sorted by path
    std::vector<LeftOut> unknown;    // only one of the snapshots covers them
    bool complete = true;            // both cover all but what is ignored, and the same
};

TreeDifference difference(ObjectReader& reader, const std::string& before, const std::string& after);
ChangeList describe(ObjectReader& reader, const TreeDifference& difference);

// The first 100.
inline constexpr std::size_t max_listed_left_out = 100;
std::vector<NotCovered> listed_left_out(const std::vector<LeftOut>& left_out);

} // namespace cellgate::changes
