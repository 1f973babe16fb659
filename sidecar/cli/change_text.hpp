#pragma once
// `change_text` is changes of files in words and as a diff, for a terminal: safe to show, but for the caller's own
// fields.

#include "protocol/messages/changes.hpp"

#include <string>
#include <vector>

namespace cellgate::cli {

// "M  notes.txt  (12 → 40 bytes)".
std::string change_line(const protocol::ChangedFile& file);
// The lines that are gone ("-") and new ("+") in `to`, with two around them; of a file that is no text, one line.
std::vector<std::string> file_diff(const protocol::ChangesReadResult& from, const protocol::ChangesReadResult& to);
// What a list leaves out, and what else may have changed the files; one line each.
std::vector<std::string> list_remarks(const protocol::ChangesListResult& list);

} // namespace cellgate::cli
