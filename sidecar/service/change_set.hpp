#pragma once
// `ChangeSet` is what is known of the changes of one execution, or of one undo: the two snapshots between which they
// are. It is an entry of the record, with the first thousand files, and is read from there again.

#include "base/task.hpp"
#include "changes/snapshots.hpp"
#include "protocol/messages/changes.hpp"
#include "protocol/messages/record.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::service {

struct ChangeSet {
    std::string id; // of the execution, or of the undo
    std::optional<std::string> session_id;
    std::optional<std::string> agent;
    std::optional<std::string> undo_of;   // the id of what this undid
    std::optional<std::string> undone_by; // the id of the undo

    std::string before; // ids of snapshots; empty: there is none, not_covered says why
    std::string after;
    std::optional<std::vector<std::string>> paths; // of an undo: the files that it restored
    bool complete = true;
    std::vector<protocol::PathProblem> not_covered;
    std::vector<std::string> overlapping;
    std::size_t files = 0;

    Event before_taken;   // or failed
    Event compared;       // or failed
    bool is_late = false; // the execution began before it was taken
};

// The files that differ, of an undo those that it restored.
changes::ChangeList differing_files(const changes::Snapshots& snapshots, const ChangeSet& set);
std::vector<protocol::ChangedFile> to_protocol(const changes::ChangeList& list, std::size_t limit);
void add_not_covered(const std::vector<changes::NotCovered>& more, std::vector<protocol::PathProblem>& list);

// The data of its entry, an object.
RawJson record_data(const ChangeSet& set, const changes::ChangeList& list);
// Fills in what the entry has. Throws Error{store_failed}.
void read_record_entry(const protocol::RecordEntry& entry, ChangeSet& set);

} // namespace cellgate::service
