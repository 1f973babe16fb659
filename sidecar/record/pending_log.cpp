#include "pending_log.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json_codec.hpp"
#include "base/names.hpp"
#include "base/private_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cellgate::record {

namespace {

constexpr std::string_view prefix = "pending-";

// An entry without its number, which it gets in the database.
struct PendingEntry {
    std::string actor;
    RawJson data;
    std::optional<std::string> execution_id;
    std::optional<std::string> session_id;
    std::string time;
    std::string type;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("actor", self.actor);
        visit("data", self.data);
        visit("executionId", self.execution_id);
        visit("sessionId", self.session_id);
        visit("time", self.time);
        visit("type", self.type);
    }
};

// Sorts by the time at which the file was begun.
std::string new_name() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return fmt::format("{}{:016x}-{}", prefix, std::chrono::duration_cast<std::chrono::microseconds>(now).count(),
                       random_id());
}

PendingFile begin_file(const std::string& directory) {
    make_private_directory(directory);
    PendingFile begun{new_name(), {}};
    begun.file = UniqueFd(::open(fmt::format("{}/{}", directory, begun.name).c_str(),
                                 O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!begun.file.valid() || ::flock(begun.file.get(), LOCK_EX | LOCK_NB) != 0) {
        return {};
    }
    return begun;
}

} // namespace

bool PendingLog::append(const NewEntry& entry) {
    if (present_.name.empty()) {
        try {
            present_ = begin_file(directory_);
            size_ = 0;
            is_broken_ = false;
        } catch (const Error&) {
            // The writer says why.
        }
    }
    if (present_.name.empty() || is_broken_) {
        return false;
    }
    PendingEntry pending{entry.actor, entry.data, entry.execution_id, entry.session_id, to_rfc3339(entry.time),
                         entry.type};
    std::string line = to_json(pending);
    line += '\n';
    if (write_all(present_.file.get(), line)) {
        size_ += static_cast<off_t>(line.size());
        return true;
    }
    is_broken_ = ::ftruncate(present_.file.get(), size_) != 0; // what follows a part of a line would be one with it
    return false;
}

std::vector<PendingFile> find_left_over(const std::string& directory) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(directory.c_str()), ::closedir);
    while (const dirent* each = folder ? ::readdir(folder.get()) : nullptr) {
        if (std::string_view(each->d_name).starts_with(prefix)) {
            names.emplace_back(each->d_name);
        }
    }
    std::sort(names.begin(), names.end());
    std::vector<PendingFile> found;
    for (std::string& name : names) {
        const std::string path = fmt::format("{}/{}", directory, name);
        PendingFile pending{std::move(name), UniqueFd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC))};
        if (pending.file.valid() && ::flock(pending.file.get(), LOCK_EX | LOCK_NB) == 0 &&
            ::access(path.c_str(), F_OK) == 0) { // its process may have removed it meanwhile
            found.push_back(std::move(pending));
        }
    }
    return found;
}

std::vector<NewEntry> read_pending(const PendingFile& file) {
    struct stat status{};
    ::fstat(file.file.get(), &status);
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    const ssize_t count = ::pread(file.file.get(), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    std::vector<NewEntry> entries;
    std::size_t start = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
        try {
            const auto pending = from_json<PendingEntry>(text.substr(start, end - start), "entry");
            const std::optional<WallTime> time = parse_rfc3339(pending.time);
            entries.push_back({time.value_or(WallTime()), pending.type, pending.actor, pending.session_id,
                               pending.execution_id, pending.data});
        } catch (const Error& error) {
            throw Error(ErrorCode::store_failed, fmt::format("cannot read {}: {}", file.name, error.message),
                        "move it away, and keep it");
        }
        start = end + 1;
    }
    return entries;
}

void remove_pending(const std::string& directory, const std::string& name) {
    ::unlink(fmt::format("{}/{}", directory, name).c_str());
}

} // namespace cellgate::record
