#include "change_set.hpp"

#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sys/stat.h>
#include <utility>

namespace cellgate::service {

namespace {

constexpr std::size_t max_recorded_files = 1000;
constexpr std::size_t max_not_covered = 100;

std::optional<protocol::FileVersion> version_of(const std::optional<changes::FileState>& state) {
    if (!state) {
        return std::nullopt;
    }
    protocol::FileVersion version;
    version.sha256 = state->sha256;
    version.bytes = state->bytes;
    version.mode = fmt::format("{:04o}", state->mode & 07777U);
    if (S_ISLNK(state->mode)) {
        version.link = true;
    }
    return version;
}

protocol::ChangeKind kind_of(const changes::Change& change) {
    if (!change.before) {
        return protocol::ChangeKind::created;
    }
    return change.after ? protocol::ChangeKind::modified : protocol::ChangeKind::deleted;
}

// The data of an entry of the record.
struct EntryData {
    std::int64_t files = 0;
    bool complete = true;
    std::string before;
    std::string after;
    std::vector<protocol::ChangedFile> changes; // the first of them
    std::optional<std::vector<std::string>> paths;
    std::optional<std::string> undo_of;
    std::optional<std::string> agent;
    std::optional<std::vector<protocol::PathProblem>> not_covered;
    std::optional<std::vector<std::string>> overlapping;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("files", self.files);
        visit("complete", self.complete);
        visit("before", self.before);
        visit("after", self.after);
        visit("changes", self.changes);
        visit("paths", self.paths);
        visit("undoOf", self.undo_of);
        visit("agent", self.agent);
        visit("notCovered", self.not_covered);
        visit("overlapping", self.overlapping);
    }
};

} // namespace

changes::ChangeList differing_files(const changes::Snapshots& snapshots, const ChangeSet& set) {
    changes::ChangeList list = snapshots.compare(set.before, set.after);
    if (set.paths) {
        const std::set<std::string> wanted(set.paths->begin(), set.paths->end());
        std::erase_if(list.changes, [&](const changes::Change& change) { return !wanted.contains(change.path); });
    }
    return list;
}

std::vector<protocol::ChangedFile> to_protocol(const changes::ChangeList& list, std::size_t limit) {
    std::vector<protocol::ChangedFile> files;
    for (std::size_t i = 0; i < std::min(list.changes.size(), limit); ++i) {
        const changes::Change& change = list.changes[i];
        files.push_back({change.path, kind_of(change), version_of(change.before), version_of(change.after)});
    }
    return files;
}

void add_not_covered(const std::vector<changes::NotCovered>& more, std::vector<protocol::PathProblem>& list) {
    for (const changes::NotCovered& each : more) {
        protocol::PathProblem problem{escape_unprintable(each.path), escape_unprintable(each.why)};
        const bool known = std::any_of(list.begin(), list.end(), [&](const protocol::PathProblem& listed) {
            return listed.path == problem.path && listed.why == problem.why;
        });
        if (!known && list.size() < max_not_covered) {
            list.push_back(std::move(problem));
        }
    }
}

RawJson record_data(const ChangeSet& set, const changes::ChangeList& list) {
    EntryData data;
    data.files = static_cast<std::int64_t>(set.files);
    data.complete = set.complete;
    data.before = set.before;
    data.after = set.after;
    data.changes = to_protocol(list, max_recorded_files);
    data.paths = set.paths;
    data.undo_of = set.undo_of;
    data.agent = set.agent;
    if (!set.not_covered.empty()) {
        data.not_covered = set.not_covered;
    }
    if (!set.overlapping.empty()) {
        data.overlapping = set.overlapping;
    }
    return to_raw_json(data);
}

void read_record_entry(const protocol::RecordEntry& entry, ChangeSet& set) {
    EntryData data = from_json<EntryData>(entry.data.text(), "entry.data");
    set.session_id = entry.session_id;
    set.agent = std::move(data.agent);
    set.undo_of = std::move(data.undo_of);
    set.before = std::move(data.before);
    set.after = std::move(data.after);
    set.paths = std::move(data.paths);
    set.complete = data.complete;
    set.not_covered = std::move(data.not_covered).value_or(std::vector<protocol::PathProblem>());
    set.overlapping = std::move(data.overlapping).value_or(std::vector<std::string>());
    set.files = static_cast<std::size_t>(data.files);
    set.before_taken.set();
    set.compared.set();
}

} // namespace cellgate::service
