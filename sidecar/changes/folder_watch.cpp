#include "folder_watch.hpp"

#include <algorithm>
#include <future>
#include <set>
#include <string>
#include <string_view>

namespace cellgate::changes {

namespace {

constexpr std::string_view ignore_file = ".gitignore";

bool is_ignore_file(std::string_view path) {
    return path.substr(path.rfind('/') + 1) == ignore_file;
}

void add_folders_above(std::string_view path, std::set<std::string, std::less<>>& folders) {
    for (std::size_t slash = path.rfind('/'); slash != std::string_view::npos && slash > 0;
         slash = path.rfind('/', slash - 1)) {
        if (!folders.emplace(path.substr(0, slash)).second) {
            return; // with those above it
        }
    }
}

// Folders are without a slash at their end: lstat would follow a link.
std::set<std::string, std::less<>> watched_paths(const LastSnapshot& snapshot) {
    std::set<std::string, std::less<>> paths = {"."};
    for (const KeptFile& file : snapshot.files) {
        add_folders_above(file.path, paths);
    }
    for (const std::string& folder : snapshot.coverage.bare_folders) {
        add_folders_above(folder, paths);
    }
    for (const std::string& ignored : snapshot.coverage.ignored) {
        if (is_ignore_file(ignored)) {
            paths.insert(ignored);
        }
    }
    for (const LeftOut& each : snapshot.coverage.left_out) {
        if (each.path.ends_with('/')) {
            add_folders_above(each.path, paths);
            paths.insert(each.path + ".git"); // what makes it a repository
        } else {
            paths.insert(each.path);
        }
    }
    return paths;
}

// By several threads: each waits for the file system most of the time.
std::vector<struct stat> statuses_of(const std::vector<KeptFile>& files, const WorkspaceFiles& workspace) {
    constexpr std::size_t max_threads = 4;
    std::vector<struct stat> statuses(files.size());
    std::vector<std::future<void>> parts;
    const std::size_t size = files.size() / max_threads + 1;
    for (std::size_t begin = 0; begin < files.size(); begin += size) {
        parts.push_back(std::async(std::launch::async, [&, begin] {
            for (std::size_t i = begin; i < std::min(begin + size, files.size()); ++i) {
                statuses[i] = workspace.status(files[i].path);
            }
        }));
    }
    for (std::future<void>& part : parts) {
        part.get();
    }
    return statuses;
}

} // namespace

std::vector<KeptFile> watch_folders(const LastSnapshot& snapshot, const WorkspaceFiles& workspace,
                                    std::int64_t started) {
    std::vector<KeptFile> watched;
    for (const std::string& path : watched_paths(snapshot)) {
        FileStat stat = file_stat(workspace.status(path));
        stat.inode = stat.changed < started ? stat.inode : 0;
        watched.push_back({path, stat});
    }
    return watched;
}

std::optional<WorkspaceScan> scan_unchanged_folders(const LastSnapshot& last, const WorkspaceFiles& workspace,
                                                    const Options& options) {
    const auto is_unchanged = [&workspace](const KeptFile& each) {
        return file_stat(workspace.status(each.path)) == each.stat;
    };
    if (last.watched.empty() || !std::ranges::all_of(last.watched, is_unchanged)) {
        return std::nullopt;
    }
    WorkspaceScan scan;
    scan.files.reserve(last.files.size());
    std::uint64_t bytes = 0;
    const std::vector<struct stat> statuses = statuses_of(last.files, workspace);
    for (std::size_t i = 0; i < last.files.size(); ++i) {
        const KeptFile& kept = last.files[i];
        const struct stat& status = statuses[i];
        const FileStat stat = file_stat(status);
        const bool is_covered =
            S_ISLNK(status.st_mode) || (S_ISREG(status.st_mode) && stat.size <= options.max_file_bytes);
        if (!is_covered || (is_ignore_file(kept.path) && !(stat == kept.stat))) {
            return std::nullopt;
        }
        bytes += stat.size;
        scan.files.push_back({kept.path, stat});
    }
    if (bytes > options.max_total_bytes) {
        return std::nullopt;
    }
    scan.coverage = last.coverage;
    return scan;
}

} // namespace cellgate::changes
