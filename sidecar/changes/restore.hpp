#pragma once
// `Restore` brings files of the workspace from one of two states to the other: first what the target does not have is
// removed, with the folders that this leaves empty, then the rest is written. Each file is compared with both states
// right before it is changed; one that is as neither is left as it is. It can be interrupted and made again. Blocks;
// throws Error{store_failed}.

#include "change_list.hpp"
#include "object_reader.hpp"
#include "workspace_files.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::changes {

struct FileTransition {
    std::string path;
    std::optional<TreeEntry> from;
    std::optional<TreeEntry> to;
};

class Restore {
  public:
    // `target` is the snapshot that `to` of each transition is from. `temporary` is the name of new files until they
    // are complete; those that an interrupted restore left are removed.
    Restore(ObjectReader& reader, const WorkspaceFiles& workspace, std::vector<FileTransition> transitions,
            const std::string& target, std::string temporary);

    bool is_restored(const FileTransition& transition) { return mismatch(transition.path, transition.to).empty(); }
    // What run() would meet, if all files have to be as in `from`. Changes nothing.
    std::vector<NotCovered> check();
    // Returns the files that are neither as in `from` nor as in `to`; with `stop` it ends at the first.
    std::vector<NotCovered> run(bool stop);

  private:
    std::string mismatch(const std::string& path, const std::optional<TreeEntry>& entry);
    // Whether it has still to be changed; adds to `conflicts` if it cannot be.
    bool is_due(const FileTransition& transition, std::vector<NotCovered>& conflicts);
    std::string why_no_room(const std::string& path) const;
    std::string why_folder_stays(const std::string& path) const;
    bool removes(const std::string& path) const;
    void remove(const FileTransition& transition);
    void remove_empty_below(const std::string& folder);
    void write(const FileTransition& transition);
    bool target_has_folder(const std::string& folder);

    ObjectReader& reader_;
    const WorkspaceFiles& workspace_;
    std::vector<FileTransition> transitions_; // sorted by path
    std::string temporary_;
    TreeNode target_files_;
    std::vector<std::string> target_paths_; // of what else was there, sorted; folders end in a slash
};

} // namespace cellgate::changes
