#include "workspace_scan.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace cellgate::changes {

namespace {

constexpr std::string_view unreadable_folder = "warning: could not open directory '";

// The path of a folder that git could not read, from a line of what it prints; empty if the line is about another
// thing, or its path is not certain (git replaces control characters).
std::string folder_of_warning(std::string_view line, const WorkspaceFiles& workspace) {
    line.remove_prefix(unreadable_folder.size());
    std::string path(line.substr(0, line.rfind("': ")));
    if (!path.ends_with('/')) {
        path += '/';
    }
    return S_ISDIR(workspace.status(path.substr(0, path.size() - 1)).st_mode) ? path : "";
}

void add_unreadable_folders(std::string_view errors, const WorkspaceFiles& workspace, WorkspaceScan& scan) {
    for (std::size_t start = 0; start < errors.size();) {
        const std::size_t end = std::min(errors.find('\n', start), errors.size());
        const std::string_view line = errors.substr(start, end - start);
        start = end + 1;
        if (!line.starts_with(unreadable_folder)) {
            continue;
        }
        if (std::string path = folder_of_warning(line, workspace); !path.empty()) {
            scan.coverage.left_out.push_back({std::move(path), "its folder cannot be read"});
        } else {
            scan.why_nothing = "a folder cannot be read: " + escape_unprintable(line);
        }
    }
}

std::string why_left_out(const std::string& path, const struct stat& status, const Options& options) {
    if (!is_utf8(path)) {
        return "its name is not UTF-8";
    }
    if (path.ends_with('/')) {
        return "it is a repository of its own";
    }
    if (S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) > options.max_file_bytes) {
        return fmt::format("it is larger than {} bytes", options.max_file_bytes);
    }
    return {};
}

std::vector<std::string> status_arguments(const Options& options) {
    std::vector<std::string> arguments = {
        "status",      "--porcelain=v1",      "-z", "-uall", "--ignored=matching", "--no-renames",
        "--no-column", "--ignore-submodules", "--", "."};
    for (const std::string& folder : options.excluded) {
        arguments.push_back(":(exclude,top,literal)" + folder);
    }
    return arguments;
}

// One entry of `git status`: "?? path", "!! path".
void add_entry(const std::string& entry, const WorkspaceFiles& workspace, const Options& options, WorkspaceScan& scan) {
    const std::string path = entry.substr(3);
    if (entry.starts_with("!!")) {
        if (is_utf8(path)) {
            scan.coverage.ignored.push_back(path);
        }
        return;
    }
    const struct stat status = workspace.status(path);
    if (const std::string why = why_left_out(path, status, options); !why.empty()) {
        scan.coverage.left_out.push_back({is_utf8(path) ? path : escape_unprintable(path), why});
    } else if (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode)) {
        scan.files.push_back({path, file_stat(status)});
    }
}

bool has_file_in(const std::vector<ScannedFile>& files, const std::string& folder) {
    const auto found = std::ranges::lower_bound(files, folder, {}, &ScannedFile::path);
    return found != files.end() && found->path.starts_with(folder);
}

// The folders, of those that are looked at, in which no file is covered.
void add_bare_folders(const WorkspaceFiles& workspace, std::size_t max_folders, WorkspaceScan& scan) {
    const CoverageIndex index(scan.coverage);
    std::vector<std::string> waiting = {""};
    std::size_t folders = 0;
    while (!waiting.empty()) {
        const std::string folder = std::move(waiting.back());
        waiting.pop_back();
        for (const std::string& name : workspace.names(folder)) {
            std::string path = folder + name;
            if (!path.ends_with('/') || name == ".git/" || !is_utf8(path) || !index.why_left_out(path).empty()) {
                continue;
            }
            if (++folders > max_folders) {
                scan.why_nothing = fmt::format("it has more than {} folders", max_folders);
                return;
            }
            if (!has_file_in(scan.files, path)) {
                scan.coverage.bare_folders.push_back(path);
            }
            waiting.push_back(std::move(path));
        }
    }
    std::ranges::sort(scan.coverage.bare_folders);
}

} // namespace

WorkspaceScan scan_workspace(const GitFolders& folders, const WorkspaceFiles& workspace, const Options& options) {
    WorkspaceScan scan;
    for (const std::string& folder : options.excluded) {
        scan.coverage.ignored.push_back(folder + "/");
    }
    GitProcess git(folders, status_arguments(options));
    std::size_t entries = 0;
    std::uint64_t bytes = 0;
    while (const std::optional<std::string> entry = git.read_until('\0')) {
        const std::size_t files = scan.files.size();
        add_entry(*entry, workspace, options, scan);
        bytes += scan.files.size() > files ? scan.files.back().stat.size : 0;
        if (++entries > options.max_files) {
            scan.why_nothing = fmt::format("it has more than {} files", options.max_files);
            return scan;
        }
    }
    git.finish();
    if (bytes > options.max_total_bytes) {
        scan.why_nothing = fmt::format("its files have more than {} bytes", options.max_total_bytes);
    }
    add_unreadable_folders(git.errors(), workspace, scan);
    std::ranges::sort(scan.files, {}, &ScannedFile::path);
    add_bare_folders(workspace, options.max_files, scan);
    return scan;
}

} // namespace cellgate::changes
