#include "store/journals.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "store/directories.hpp"
#include "store/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <sys/stat.h>
#include <vector>

namespace cellgate::store {

namespace {

namespace fs = std::filesystem;

struct StaleRun {
    std::string path;
    std::int64_t age = 0;
    std::uint64_t bytes = 0;
};

// A directory without a readable modification time counts as new.
std::int64_t age_of(const std::string& path) {
    struct stat found{};
    return ::lstat(path.c_str(), &found) == 0 ? std::time(nullptr) - found.st_mtime : 0;
}

std::uint64_t size_of(const std::string& directory) {
    std::uint64_t bytes = 0;
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
        struct stat found{};
        if (::lstat(entry->path().c_str(), &found) == 0 && S_ISREG(found.st_mode)) {
            bytes += static_cast<std::uint64_t>(found.st_size);
        }
    }
    return bytes;
}

std::vector<StaleRun> stale_runs_in(const std::string& parent, std::int64_t safe_seconds) {
    std::vector<StaleRun> all;
    std::error_code error;
    for (fs::directory_iterator root(parent, error), end; !error && root != end; root.increment(error)) {
        std::error_code inner;
        if (!root->is_directory(inner) || root->is_symlink(inner)) {
            continue;
        }
        for (fs::directory_iterator run(root->path(), inner); !inner && run != end; run.increment(inner)) {
            const std::string path = run->path();
            const std::int64_t age = age_of(path);
            if (run->path().filename().string().starts_with("run-") && age > safe_seconds) {
                all.push_back({path, age, 0});
            }
        }
    }
    std::sort(all.begin(), all.end(), [](const StaleRun& a, const StaleRun& b) { return a.age < b.age; });
    return all;
}

} // namespace

Journals::Journals(const std::string& parent, RunBlocking run_blocking, JournalLimits limits)
    : files_(make_unique_directory(parent, "run-"), std::move(run_blocking)), limits_(limits), lock_(directory()) {
    if (!lock_.held()) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot lock the directory {}", directory()), errno);
    }
}

Journals::~Journals() {
    remove_tree(directory());
}

std::uint64_t Journals::retire(Journal& journal) {
    retired_.emplace(++retired_count_, &journal);
    return retired_count_;
}

void Journals::evict(std::uint64_t bytes) {
    while (bytes_ + bytes > limits_.of_all && !retired_.empty()) {
        Journal& oldest = *retired_.begin()->second;
        retired_.erase(retired_.begin());
        oldest.drop_all(fmt::format("the output of all executions has reached {} bytes: that of the oldest was dropped",
                                    limits_.of_all));
    }
}

void remove_stale_journals(const std::string& parent, const JournalRetention& retention) {
    std::uint64_t kept = 0;
    for (StaleRun& run : stale_runs_in(parent, retention.safe_seconds)) { // the youngest first
        const DirectoryLock lock(run.path);
        if (!lock.held()) {
            continue; // its sidecar is running
        }
        run.bytes = size_of(run.path);
        if (run.age > retention.kept_seconds || kept + run.bytes > retention.kept_bytes) {
            log_info("removing the journals of a sidecar that has ended: {}", run.path);
            remove_tree(run.path);
        } else {
            kept += run.bytes;
        }
    }
}

} // namespace cellgate::store
