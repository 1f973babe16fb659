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

struct Left {
    std::string path;
    std::int64_t age = 0;
    std::uint64_t bytes = 0;
};

// Without its modification time a directory is not judged.
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

std::vector<Left> left_in(const std::string& parent, std::int64_t safe_seconds) {
    std::vector<Left> all;
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
    std::sort(all.begin(), all.end(), [](const Left& a, const Left& b) { return a.age < b.age; });
    return all;
}

} // namespace

Journals::Journals(const std::string& parent, OffLoop off_loop, JournalLimits limits)
    : files_(make_unique_directory(parent, "run-"), std::move(off_loop)), limits_(limits), lock_(directory()) {
    if (!lock_.held()) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot lock the directory {}", directory()), errno);
    }
}

Journals::~Journals() {
    remove_tree(directory());
}

std::uint64_t Journals::rests(Journal& journal) {
    resting_.emplace(++rested_, &journal);
    return rested_;
}

void Journals::make_room(std::uint64_t bytes) {
    while (bytes_ + bytes > limits_.of_all && !resting_.empty()) {
        Journal& oldest = *resting_.begin()->second;
        resting_.erase(resting_.begin());
        oldest.drop_all(fmt::format("the output of all executions has reached {} bytes: that of the oldest was dropped",
                                    limits_.of_all));
    }
}

void sweep_journals(const std::string& parent, const LeftJournals& left) {
    std::uint64_t kept = 0;
    for (Left& run : left_in(parent, left.safe_seconds)) { // the youngest first
        const DirectoryLock lock(run.path);
        if (!lock.held()) {
            continue; // its sidecar lives
        }
        run.bytes = size_of(run.path);
        if (run.age > left.kept_seconds || kept + run.bytes > left.kept_bytes) {
            log_info("removing the journals of a sidecar that is gone: {}", run.path);
            remove_tree(run.path);
        } else {
            kept += run.bytes;
        }
    }
}

} // namespace cellgate::store
