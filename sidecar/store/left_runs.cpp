#include "store/left_runs.hpp"

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

struct Place {
    std::string directory;
    WallTime ended_at;
};

std::string mark_in(const std::string& directory) {
    return directory + "/told";
}

WallTime last_change_of(const std::string& path) {
    struct stat found{};
    ::lstat(path.c_str(), &found);
    return WallTime(std::chrono::seconds(found.st_mtim.tv_sec) +
                    std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds(found.st_mtim.tv_nsec)));
}

// The latest first. A sidecar locks its directory before it makes the ledger, so one with a ledger and without a lock
// belongs to nobody.
std::vector<Place> left_places(const std::string& parent) {
    std::vector<Place> places;
    std::error_code error;
    for (fs::directory_iterator run(parent, error), end; !error && run != end; run.increment(error)) {
        const std::string path = run->path();
        if (!has_ledger(path)) {
            continue;
        }
        if (const DirectoryLock lock(path); lock.held()) {
            places.push_back({path, last_change_of(path + "/ledger")});
        }
    }
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.ended_at > b.ended_at; });
    return places;
}

} // namespace

std::vector<LeftRun> find_untold_runs(const std::string& parent) {
    std::vector<LeftRun> runs;
    for (const Place& place : left_places(parent)) {
        if (::access(mark_in(place.directory).c_str(), F_OK) == 0) {
            continue;
        }
        LedgerContents contents = read_ledger(place.directory);
        std::erase_if(contents.executions, [](const LedgerEntry& entry) { return entry.result.has_value(); });
        if (!contents.sessions.empty() || !contents.executions.empty()) {
            runs.push_back(
                {place.directory, place.ended_at, std::move(contents.sessions), std::move(contents.executions)});
        }
    }
    return runs;
}

void mark_told(const std::string& directory) {
    const std::string mark = mark_in(directory);
    const int fd = ::open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        log_warning("cannot create {}: {}. What was lost will be told once more", mark, std::strerror(errno));
        return;
    }
    ::close(fd);
}

std::optional<LeftExecution> find_left_execution(const std::string& parent, const std::string& execution_id) {
    for (const Place& place : left_places(parent)) {
        LedgerContents contents = read_ledger(place.directory);
        for (LedgerEntry& entry : contents.executions) {
            if (entry.execution_id == execution_id) {
                return LeftExecution{place.directory, std::move(entry)};
            }
        }
    }
    return std::nullopt;
}

} // namespace cellgate::store
