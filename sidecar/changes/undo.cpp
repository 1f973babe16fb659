#include "undo.hpp"

#include "base/error.hpp"
#include "base/names.hpp"
#include "restore.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace cellgate::changes {

namespace {

std::vector<FileTransition> back_to_before(const std::vector<TreeChange>& changes) {
    std::vector<FileTransition> transitions;
    for (const TreeChange& change : changes) {
        transitions.push_back({change.path(), change.after, change.before});
    }
    return transitions;
}

std::vector<FileTransition> forth_to_after(const std::vector<TreeChange>& changes) {
    std::vector<FileTransition> transitions;
    for (const TreeChange& change : changes) {
        transitions.push_back({change.path(), change.before, change.after});
    }
    return transitions;
}

// Leaves the changes of `paths`, which it returns a refusal for where there is none.
std::vector<NotCovered> choose(const std::vector<std::string>& paths, std::vector<TreeChange>& changes) {
    std::set<std::string> missing(paths.begin(), paths.end());
    std::erase_if(changes, [&](const TreeChange& change) { return missing.erase(change.path()) == 0; });
    std::vector<NotCovered> refused;
    for (const std::string& path : missing) {
        refused.push_back({path, "it is not among the files that were changed"});
    }
    return refused;
}

} // namespace

UndoOutcome Undo::run(const std::string& before, const std::string& after,
                      const std::optional<std::vector<std::string>>& paths) const {
    UndoOutcome outcome;
    std::vector<TreeChange> changes = difference(reader_, before, after).changes;
    if (paths) {
        outcome.refused = choose(*paths, changes);
    }
    if (changes.empty() || !outcome.refused.empty()) {
        return outcome;
    }
    UndoPlan plan{before, after, ".cellgate-undo-" + random_id(), {}};
    leave_out_restored(plan, changes);
    for (const TreeChange& change : changes) {
        plan.paths.push_back(change.path());
    }
    outcome.refused = apply(plan, changes);
    if (outcome.refused.empty()) {
        outcome.restored = std::move(plan.paths);
    }
    return outcome;
}

// Files that are as they were before, such as those of an undo of single files. If all are, none is left out, and the
// check refuses them.
void Undo::leave_out_restored(const UndoPlan& plan, std::vector<TreeChange>& changes) const {
    Restore restore(reader_, workspace_, back_to_before(changes), plan.before, plan.temporary);
    std::vector<TreeChange> due;
    std::ranges::copy_if(changes, std::back_inserter(due), [&](const TreeChange& change) {
        return !restore.is_restored({change.path(), change.after, change.before});
    });
    if (!due.empty()) {
        changes = std::move(due);
    }
}

std::vector<NotCovered> Undo::apply(const UndoPlan& plan, const std::vector<TreeChange>& changes) const {
    Restore restore(reader_, workspace_, back_to_before(changes), plan.before, plan.temporary);
    if (std::vector<NotCovered> refused = restore.check(); !refused.empty()) {
        return refused;
    }
    save_plan(plan_path_, plan);
    std::vector<NotCovered> refused;
    try {
        refused = restore.run(true);
    } catch (const Error&) {
        revert(plan, changes);
        throw;
    }
    if (!refused.empty()) { // somebody changed a file between the check and its turn
        revert(plan, changes);
        return refused;
    }
    workspace_.flush_folders_of(plan.paths);
    remove_plan(plan_path_);
    return refused;
}

void Undo::revert(const UndoPlan& plan, const std::vector<TreeChange>& changes) const {
    Restore(reader_, workspace_, forth_to_after(changes), plan.after, plan.temporary).run(false);
    workspace_.flush_folders_of(plan.paths);
    remove_plan(plan_path_);
}

std::optional<UndoOutcome> Undo::recover() const {
    const std::optional<UndoPlan> plan = load_plan(plan_path_);
    if (!plan) {
        return std::nullopt;
    }
    std::vector<TreeChange> changes = difference(reader_, plan->before, plan->after).changes;
    choose(plan->paths, changes); // none is missing
    UndoOutcome outcome;
    outcome.refused = Restore(reader_, workspace_, back_to_before(changes), plan->before, plan->temporary).run(false);
    workspace_.flush_folders_of(plan->paths);
    remove_plan(plan_path_);
    for (const std::string& path : plan->paths) {
        if (std::ranges::find(outcome.refused, path, &NotCovered::path) == outcome.refused.end()) {
            outcome.restored.push_back(path);
        }
    }
    return outcome;
}

} // namespace cellgate::changes
