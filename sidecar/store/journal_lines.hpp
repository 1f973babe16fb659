#pragma once
// How a journal's file is written: a heading, then one record a line. Private to the room.

#include "base/json_codec.hpp"
#include "store/journal.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::store {

// The first line of a file.
struct JournalHeading {
    std::string execution_id;
    std::string session_id;
    int part = 0; // of the journal's files, in their order
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("executionId", self.execution_id);
        visit("sessionId", self.session_id);
        visit("part", self.part);
    }
};

// What stands around a record's output in its line.
std::string journal_line_start(std::int64_t seq);
std::string_view journal_line_end(bool late);
// An output is an object: no other line ends so.
bool is_late_journal_line(std::string_view line);

// The files are the person's own, but may have been changed or cut off since: nothing for what is no line of ours.
std::optional<JournalHeading> read_journal_heading(std::string_view line);
std::optional<std::int64_t> read_journal_seq(std::string_view line);
std::optional<JournalRecord> read_journal_line(std::string_view line, std::int64_t seq);

// Empty when it cannot be read whole.
std::string read_file_part(const std::string& path, std::int64_t offset, std::uint64_t length);

} // namespace cellgate::store
