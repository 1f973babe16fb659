#pragma once
// `escape_unprintable` makes text from outside safe to display: characters that a terminal or an editor would
// interpret, hide or reorder are escaped.

#include <string>
#include <string_view>

namespace cellgate {

// `text` with control characters (but not \n and \t when `keep_lines`), bidirectional marks, zero-width and other
// invisible characters, private-use and unassigned tags, and bytes that are not UTF-8 each replaced by a visible escape
// such as \x1b, \u{202e} or \xff. Nothing is truncated. Backslashes are not doubled, so the result is for reading, not
// for parsing.
std::string escape_unprintable(std::string_view text, bool keep_lines = false);

// For the output of a cell, on which no decision depends: lines, unusual spaces, icons, and the joiners of emoji and
// scripts stay; the rest is escaped as above.
std::string printable_text(std::string_view text);

} // namespace cellgate
