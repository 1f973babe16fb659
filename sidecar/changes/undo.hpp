#pragma once
// `Undo` is the restoring of what differs between two snapshots: checked first, whole or not at all, and completed
// after an interruption. Blocks; throws Error{store_failed}.

#include "change_list.hpp"
#include "object_reader.hpp"
#include "undo_plan.hpp"
#include "workspace_files.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::changes {

struct UndoOutcome {
    std::vector<NotCovered> refused;
    std::vector<std::string> restored;
};

class Undo {
  public:
    // `plan_path` is where the plan is while files change. The reader and the workspace outlive this.
    Undo(ObjectReader& reader, const WorkspaceFiles& workspace, std::string plan_path)
        : reader_(reader), workspace_(workspace), plan_path_(std::move(plan_path)) {}

    // As Snapshots::undo(), and as Snapshots::recover().
    UndoOutcome run(const std::string& before, const std::string& after,
                    const std::optional<std::vector<std::string>>& paths) const;
    std::optional<UndoOutcome> recover() const;

  private:
    void leave_out_restored(const UndoPlan& plan, std::vector<TreeChange>& changes) const;
    std::vector<NotCovered> apply(const UndoPlan& plan, const std::vector<TreeChange>& changes) const;
    void revert(const UndoPlan& plan, const std::vector<TreeChange>& changes) const;

    ObjectReader& reader_;
    const WorkspaceFiles& workspace_;
    std::string plan_path_;
};

} // namespace cellgate::changes
