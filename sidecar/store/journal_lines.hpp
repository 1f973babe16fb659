#pragma once
// `JournalHeading` and the functions below are the format of a journal's file: a heading, then one record a line.
// Private to the module.

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

// The text before and after a record's output in its line.
std::string journal_line_start(std::int64_t seq);
std::string_view journal_line_end(bool late);
// An output is an object, so no other line ends like this.
bool is_late_journal_line(std::string_view line);

// The files belong to the user, but may have been changed or truncated: nothing for a line of another format.
std::optional<JournalHeading> read_journal_heading(std::string_view line);
std::optional<std::int64_t> read_journal_seq(std::string_view line);
std::optional<JournalRecord> read_journal_line(std::string_view line, std::int64_t seq);

// Empty when it cannot be read completely.
std::string read_file_part(const std::string& path, std::int64_t offset, std::uint64_t length);

} // namespace cellgate::store
