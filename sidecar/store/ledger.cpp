#include "store/ledger.hpp"

#include "base/files.hpp"
#include "base/json_codec.hpp"
#include "base/log.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <utility>

namespace cellgate::store {

namespace {

constexpr std::uint64_t max_bytes = std::uint64_t{32} << 20;

struct Queued {
    std::string execution_id;
    std::string session_id;
    std::optional<RawJson> cell;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("executionId", self.execution_id);
        visit("sessionId", self.session_id);
        visit("cell", self.cell);
    }
};

struct Finished {
    std::string execution_id;
    RawJson result;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("executionId", self.execution_id);
        visit("result", self.result);
    }
};

// One of them.
struct Line {
    std::optional<std::string> opened; // a session
    std::optional<std::string> closed;
    std::optional<Queued> queued;
    std::optional<std::string> started; // an execution
    std::optional<Finished> finished;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("opened", self.opened);
        visit("closed", self.closed);
        visit("queued", self.queued);
        visit("started", self.started);
        visit("finished", self.finished);
    }
};

std::string path_in(const std::string& directory) {
    return directory + "/ledger";
}

std::string to_text(const Line& line) {
    return to_json(line) + "\n";
}

std::string opened_line(const std::string& session_id) {
    Line line;
    line.opened = session_id;
    return to_text(line);
}

std::string queued_line(const LedgerEntry& entry) {
    Line line;
    line.queued = Queued{entry.execution_id, entry.session_id, entry.cell};
    return to_text(line);
}

std::string started_line(const std::string& execution_id) {
    Line line;
    line.started = execution_id;
    return to_text(line);
}

std::optional<Line> read_line(const std::string& text) {
    constexpr JsonLimits limits{260, max_bytes};
    if (check_json(text, limits)) {
        return std::nullopt;
    }
    try {
        return from_json<Line>(text, "ledger");
    } catch (const Error&) {
        return std::nullopt;
    }
}

} // namespace

Ledger::Ledger(const std::string& directory)
    : path_(path_in(directory)),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    if (!file_.valid()) {
        disable();
    }
}

void Ledger::session_opened(const std::string& session_id) {
    sessions_.insert(session_id);
    append(opened_line(session_id));
}

void Ledger::session_closed(const std::string& session_id) {
    sessions_.erase(session_id);
    Line line;
    line.closed = session_id;
    append(to_text(line));
}

void Ledger::queued(LedgerEntry entry) {
    std::string line = queued_line(entry);
    std::string id = entry.execution_id;
    unfinished_[std::move(id)] = std::move(entry);
    append(std::move(line));
}

void Ledger::started(const std::string& execution_id) {
    if (const auto found = unfinished_.find(execution_id); found != unfinished_.end()) {
        found->second.started = true;
    }
    append(started_line(execution_id));
}

void Ledger::finished(const std::string& execution_id, RawJson result) {
    unfinished_.erase(execution_id);
    Line line;
    line.finished = Finished{execution_id, std::move(result)};
    append(to_text(line));
}

void Ledger::append(std::string line) {
    if (!file_.valid()) {
        return;
    }
    if (size_ + line.size() > max_bytes) {
        rewrite(); // including this line
        if (size_ + line.size() > max_bytes) {
            return;
        }
    }
    size_ += line.size();
    if (!write_all(file_.get(), line)) {
        disable();
    }
}

void Ledger::rewrite() {
    std::string text;
    for (const std::string& session_id : sessions_) {
        text += opened_line(session_id);
    }
    for (const auto& [id, entry] : unfinished_) {
        text += queued_line(entry);
        if (entry.started) {
            text += started_line(id);
        }
    }
    ReplacementFile replacement(AT_FDCWD, path_ + ".", 0600);
    if (!replacement.valid() || !write_all(replacement.fd(), text) || !replacement.commit(path_)) {
        disable();
        return;
    }
    file_ = replacement.release();
    size_ = text.size();
}

void Ledger::disable() {
    log_warning("cannot write {}: {}. If this cellgate crashes, its lost work cannot be reported", path_,
                std::strerror(errno));
    file_.reset();
}

LedgerContents read_ledger(const std::string& directory) {
    std::set<std::string> sessions;
    std::vector<LedgerEntry> executions;
    std::map<std::string, std::size_t> places;
    std::ifstream file(path_in(directory));
    for (std::string text; std::getline(file, text);) {
        std::optional<Line> line = read_line(text);
        if (!line) {
            continue;
        }
        if (line->opened) {
            sessions.insert(*line->opened);
        }
        if (line->closed) {
            sessions.erase(*line->closed);
        }
        if (line->queued) {
            places[line->queued->execution_id] = executions.size();
            executions.push_back({std::move(line->queued->execution_id), std::move(line->queued->session_id),
                                  std::move(line->queued->cell), false, std::nullopt});
        }
        if (line->started && places.contains(*line->started)) {
            executions[places[*line->started]].started = true;
        }
        if (line->finished && places.contains(line->finished->execution_id)) {
            executions[places[line->finished->execution_id]].result = std::move(line->finished->result);
        }
    }
    return {{sessions.begin(), sessions.end()}, std::move(executions)};
}

bool has_ledger(const std::string& directory) {
    struct stat found{};
    return ::lstat(path_in(directory).c_str(), &found) == 0 && S_ISREG(found.st_mode);
}

} // namespace cellgate::store
