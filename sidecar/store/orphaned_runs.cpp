#include "store/orphaned_runs.hpp"

#include "base/log.hpp"
#include "store/directory_lock.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::store {

namespace {

namespace fs = std::filesystem;

struct RunDirectory {
    std::string directory;
    WallTime ended_at;
};

std::string mark_in(const std::string& directory) {
    return directory + "/reported";
}

WallTime last_change_of(const std::string& path) {
    struct stat found{};
    ::lstat(path.c_str(), &found);
    return WallTime(std::chrono::seconds(found.st_mtim.tv_sec) +
                    std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds(found.st_mtim.tv_nsec)));
}

// The latest first. A sidecar locks its directory before it makes the ledger, so an unlocked directory that contains a
// ledger is left over from a crash.
std::vector<RunDirectory> orphaned_directories(const std::string& parent) {
    std::vector<RunDirectory> runs;
    std::error_code error;
    for (fs::directory_iterator run(parent, error), end; !error && run != end; run.increment(error)) {
        const std::string path = run->path();
        if (!has_ledger(path)) {
            continue;
        }
        if (const DirectoryLock lock(path); lock.held()) {
            runs.push_back({path, last_change_of(path + "/ledger")});
        }
    }
    std::sort(runs.begin(), runs.end(),
              [](const RunDirectory& a, const RunDirectory& b) { return a.ended_at > b.ended_at; });
    return runs;
}

} // namespace

std::vector<OrphanedRun> find_unreported_runs(const std::string& parent) {
    std::vector<OrphanedRun> runs;
    for (const RunDirectory& run : orphaned_directories(parent)) {
        if (::access(mark_in(run.directory).c_str(), F_OK) == 0) {
            continue;
        }
        LedgerContents contents = read_ledger(run.directory);
        std::erase_if(contents.executions, [](const LedgerEntry& entry) { return entry.result.has_value(); });
        if (!contents.sessions.empty() || !contents.executions.empty()) {
            runs.push_back({run.directory, run.ended_at, std::move(contents.sessions), std::move(contents.executions)});
        }
    }
    return runs;
}

void mark_reported(const std::string& directory) {
    const std::string mark = mark_in(directory);
    const int fd = ::open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        log_warning("cannot create {}: {}. The lost work will be reported again", mark, std::strerror(errno));
        return;
    }
    ::close(fd);
}

std::optional<OrphanedExecution> find_orphaned_execution(const std::string& parent, const std::string& execution_id) {
    for (const RunDirectory& run : orphaned_directories(parent)) {
        LedgerContents contents = read_ledger(run.directory);
        for (LedgerEntry& entry : contents.executions) {
            if (entry.execution_id == execution_id) {
                return OrphanedExecution{run.directory, std::move(entry)};
            }
        }
    }
    return std::nullopt;
}

} // namespace cellgate::store
