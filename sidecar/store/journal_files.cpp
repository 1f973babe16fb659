#include "store/journal_files.hpp"

#include "store/directories.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace cellgate::store {

namespace {

constexpr std::size_t max_ahead = 32;
constexpr std::size_t least_ahead = 16;
// A smaller batch waits for more.
constexpr std::size_t worthwhile_removals = 16;
constexpr std::uint64_t worthwhile_bytes = std::uint64_t{64} << 10;

JournalFiles::File create(std::string path) {
    JournalFiles::File file;
    file.fd.reset(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    file.error = file.fd.valid() ? 0 : errno;
    file.path = std::move(path);
    return file;
}

// It may have been removed by others since its creation.
bool is_there(const JournalFiles::File& file) {
    struct stat found{};
    return ::fstat(file.fd.get(), &found) == 0 && found.st_nlink > 0;
}

} // namespace

struct JournalFiles::Batch {
    std::vector<std::string> to_create;
    std::vector<Removal> to_remove;
    std::vector<File> created;

    void run() {
        for (std::string& path : to_create) {
            File file = create(std::move(path));
            if (!file.fd.valid()) {
                break; // take() reports the error, if it persists
            }
            created.push_back(std::move(file));
        }
        for (const Removal& removal : to_remove) {
            if (!removal.numbered) {
                ::unlink(removal.path.c_str());
            }
            for (int i = 0; removal.numbered && ::unlink(fmt::format("{}.{}", removal.path, i).c_str()) == 0; ++i) {
            }
        }
    }
};

JournalFiles::JournalFiles(std::string directory, RunBlocking run_blocking)
    : directory_(std::move(directory)), run_blocking_(std::move(run_blocking)) {}

JournalFiles::File JournalFiles::take() {
    while (!ahead_.empty()) {
        File file = std::move(ahead_.front());
        ahead_.pop_front();
        if (is_there(file)) {
            work_if_worthwhile();
            return file;
        }
    }
    File file = create(new_stem() + ".jsonl");
    if (file.fd.valid()) {
        work_if_worthwhile();
    }
    return file;
}

std::string JournalFiles::new_stem() {
    return fmt::format("{}/{}", directory_, next_number_++);
}

void JournalFiles::remove(std::string path, std::uint64_t bytes) {
    removals_.push_back({std::move(path), false});
    removable_bytes_ += bytes;
    work_if_worthwhile();
}

void JournalFiles::remove_numbered(std::string stem) {
    removals_.push_back({std::move(stem), true});
    removable_bytes_ += worthwhile_bytes; // they are there because they are large
    work_if_worthwhile();
}

bool JournalFiles::much_to_remove() const {
    return removals_.size() >= worthwhile_removals || removable_bytes_ >= worthwhile_bytes;
}

void JournalFiles::work_if_worthwhile() {
    if ((ahead_.size() < least_ahead || much_to_remove()) && !closed_ && !std::exchange(working_, true)) {
        tasks_.spawn(work());
    }
}

Task<void> JournalFiles::work() {
    do {
        const auto batch = std::make_shared<Batch>();
        for (std::size_t i = ahead_.size(); i < max_ahead; ++i) {
            batch->to_create.push_back(new_stem() + ".jsonl");
        }
        batch->to_remove = std::exchange(removals_, {});
        removable_bytes_ = 0;
        std::function<void()> run = [batch] { batch->run(); };
        co_await run_blocking_(std::move(run));
        for (File& file : batch->created) {
            ahead_.push_back(std::move(file));
        }
    } while (much_to_remove() && !closed_);
    working_ = false;
}

Task<void> JournalFiles::close() {
    closed_ = true;
    co_await tasks_.join();
    std::function<void()> remove_all = [directory = directory_] { remove_tree(directory); };
    co_await run_blocking_(std::move(remove_all));
}

} // namespace cellgate::store
