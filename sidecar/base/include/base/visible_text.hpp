#pragma once
// Text from outside made safe to look at: what a terminal or an editor would act on, hide or reorder is written out.

#include <string>
#include <string_view>

namespace cellgate {

// `text` with control characters (but not \n and \t when `keep_lines`), bidirectional marks, zero-width and other
// invisible characters, private-use and unassigned tags, and bytes that are not UTF-8 each replaced by a visible escape
// such as \x1b, \u{202e} or \xff. Nothing is cut. A backslash stays one, so the result is for reading, not for parsing.
std::string visible_text(std::string_view text, bool keep_lines = false);

// For what a cell prints, where nothing is decided by it: lines, unusual spaces, icons, and what emoji and scripts are
// joined by stay; the rest is written out as above.
std::string printable_text(std::string_view text);

} // namespace cellgate
