#pragma once
// `scan_workspace` lists the files that a snapshot covers, without reading any, and what it leaves out. `git status`
// with an empty index walks the folders, so that .gitignore files mean what they mean to git. Blocks; throws
// Error{store_failed}.

#include "changes/snapshots.hpp"
#include "coverage.hpp"
#include "git_process.hpp"
#include "workspace_files.hpp"

#include <string>
#include <vector>

namespace cellgate::changes {

struct ScannedFile {
    std::string path;
    FileStat stat;
};

struct WorkspaceScan {
    std::vector<ScannedFile> files; // regular ones and links, sorted by path
    Coverage coverage;
    std::string why_nothing; // not empty: a bound was exceeded, so that nothing is covered
};

WorkspaceScan scan_workspace(const GitFolders& folders, const WorkspaceFiles& workspace, const Options& options);

} // namespace cellgate::changes
