#include "rule_store.hpp"

#include "base/files.hpp"
#include "base/names.hpp"
#include "gate/stored_rules.hpp"
#include "rules.hpp"
#include "store/directories.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <set>
#include <sys/file.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace cellgate::gate {

namespace {

constexpr std::size_t max_file_bytes = std::size_t{4} << 20;

struct StoredRules {
    static constexpr bool closed = true;
    std::int64_t version = 1;
    std::optional<std::string> about;
    std::vector<protocol::Rule> rules;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("version", self.version);
        visit("about", self.about);
        visit("rules", self.rules);
    }
};

Error unreadable(const std::string& path, const std::string& why) {
    return Error(ErrorCode::policy_unreadable,
                 fmt::format("the stored rules in {} cannot be read, so nothing is allowed: {}", path, why),
                 "repair the file or move it away");
}

// null reads as absent, and an absent condition matches all: in a file it is refused.
void refuse_nulls(std::string_view json) {
    for (const auto& [key, value] : json_members(json)) {
        if (value == "null") {
            throw Error(ErrorCode::rule_invalid, fmt::format("expected a value for {}, found null", key));
        }
    }
}

std::string read_all(int fd, const std::string& path) {
    std::string text;
    std::string chunk(std::size_t{64} << 10, '\0');
    while (text.size() <= max_file_bytes) {
        const ssize_t length = ::read(fd, chunk.data(), chunk.size());
        if (length < 0 && errno != EINTR) {
            throw system_error(ErrorCode::policy_unreadable, fmt::format("cannot read {}", path), errno);
        }
        if (length == 0) {
            return text;
        }
        text.append(chunk, 0, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    }
    throw Error(ErrorCode::limit_exceeded, fmt::format("expected at most {} bytes", max_file_bytes));
}

// Another process holds it while it writes. One that holds it longer hangs, and is not waited for without end.
void take_lock(int fd, const std::string& path) {
    constexpr int max_tries = 1000;
    constexpr auto between = std::chrono::milliseconds(10);
    for (int tries = 1; ::flock(fd, LOCK_EX | LOCK_NB) != 0; ++tries) {
        if (errno == EWOULDBLOCK && tries < max_tries) {
            std::this_thread::sleep_for(between);
        } else if (errno != EINTR) {
            throw system_error(ErrorCode::store_failed, fmt::format("cannot lock {}", path), errno,
                               "another cellgate may be stuck: end it");
        }
    }
}

std::int64_t nanoseconds(const struct timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

} // namespace

RuleStore::RuleStore(std::string directory, std::string file_name, protocol::RuleSource source, std::string about)
    : directory_(std::move(directory)), path_(fmt::format("{}/{}", directory_, file_name)), source_(source),
      about_(std::move(about)) {
    refresh();
}

RuleStore::Version RuleStore::look() const {
    struct stat status{};
    if (::lstat(path_.c_str(), &status) != 0) {
        return Version{};
    }
    return Version{
        true, status.st_dev, status.st_ino, status.st_size, nanoseconds(status.st_mtim), nanoseconds(status.st_ctim)};
}

bool RuleStore::refresh() {
    const Version now = look(); // before reading: a change meanwhile is seen by the next refresh()
    if (version_ && *version_ == now) {
        return false;
    }
    version_ = now;
    ++times_read_;
    rules_.clear();
    problem_.reset();
    try {
        rules_ = read();
    } catch (const Error& error) {
        problem_ = error;
    }
    return true;
}

std::vector<protocol::Rule> RuleStore::read() const {
    try {
        return read_file();
    } catch (const Error& error) {
        throw unreadable(path_, error.message);
    }
}

std::vector<protocol::Rule> RuleStore::read_file() const {
    const UniqueFd file(::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!file.valid()) {
        if (errno == ENOENT) {
            return {};
        }
        throw system_error(ErrorCode::policy_unreadable, "cannot open it", errno);
    }
    struct stat status{};
    struct stat folder{};
    if (::fstat(file.get(), &status) != 0 || ::lstat(directory_.c_str(), &folder) != 0) {
        throw system_error(ErrorCode::policy_unreadable, "cannot look at it", errno);
    }
    const mode_t others_write = 0022;
    if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & others_write) != 0 ||
        folder.st_uid != ::geteuid() || (folder.st_mode & others_write) != 0) {
        throw Error(ErrorCode::policy_unreadable,
                    "expected a file of yours, in a directory of yours, that only you can write");
    }
    const RawJson text = RawJson::parse(read_all(file.get(), path_));
    StoredRules stored = from_json<StoredRules>(text, "policy");
    if (stored.version != 1) {
        throw Error(ErrorCode::policy_unreadable, fmt::format("expected version 1, found {}", stored.version));
    }
    for (const auto& [key, value] : json_members(text.text())) {
        if (key == "rules") {
            for (const std::string_view rule : json_elements(value)) {
                refuse_nulls(rule);
            }
        }
    }
    std::vector<protocol::Rule> rules;
    std::set<std::string> ids;
    for (protocol::Rule& rule : stored.rules) {
        check_rule(rule);
        if (rule.source != source_ || rule.session_id || rule.execution_id || rule.id.empty() ||
            !ids.insert(rule.id).second) {
            throw Error(ErrorCode::policy_unreadable,
                        "expected every rule to have an id of its own, the source of this file, and no session");
        }
        rules.push_back(std::move(rule));
    }
    return rules;
}

void RuleStore::replace(const std::function<void(std::vector<protocol::Rule>&)>& change) const {
    store::make_private_directory(directory_);
    const std::string lock_path = directory_ + "/lock";
    const UniqueFd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lock.valid()) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot open {}", lock_path), errno);
    }
    take_lock(lock.get(), lock_path);
    std::vector<protocol::Rule> rules = read();
    change(rules);
    write_file(rules);
}

void RuleStore::write_file(const std::vector<protocol::Rule>& rules) const {
    std::string text = fmt::format("{{\"version\": 1, \"about\": {}, \"rules\": [", to_json(about_));
    for (const protocol::Rule& rule : rules) {
        text += fmt::format("{}\n  {}", &rule == rules.data() ? "" : ",", to_json(rule));
    }
    text += "\n]}\n";
    if (text.size() > max_file_bytes) {
        throw Error(
            ErrorCode::store_failed,
            fmt::format("expected at most {} bytes of rules in {}, found {}", max_file_bytes, path_, text.size()),
            "remove rules that are not needed");
    }
    ReplacementFile file(AT_FDCWD, path_ + ".", 0600);
    if (!file.valid() || !write_all(file.fd(), text) || ::fsync(file.fd()) != 0 || !file.commit(path_)) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot write {}", path_), errno);
    }
    const UniqueFd folder(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.valid() || ::fsync(folder.get()) != 0) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot write {}", directory_), errno);
    }
}

std::optional<Error> stored_rules_problem(const std::string& directory) {
    RuleStore store(directory, user_rules_file, protocol::RuleSource::user_store, {});
    store.refresh();
    return store.problem();
}

} // namespace cellgate::gate
