#pragma once
// columns() is the width of text on a terminal. A line that is wider than the terminal continues in the next row, where
// its text could look like a line of its own. So all lines are kept to a width that every terminal has.

#include <cstddef>
#include <string>
#include <string_view>

namespace cellgate::gate {

// Of eighty columns, four are left to the client.
inline constexpr std::size_t max_columns = 76;

// Of the source line that makes a call.
inline constexpr std::size_t max_source_columns = 200;

// Of the error with which an action ended.
inline constexpr std::size_t max_outcome_columns = 400;

// Of a line of escape_unprintable(). Characters that may be two columns wide count as two, also where they are not.
std::size_t columns(std::string_view line);

// The longest beginning of `line` that is at most `width` wide: whole characters, at least one.
std::string_view beginning(std::string_view line, std::size_t width);

// A text from outside in one visible line, no wider than `width` but for a mark that says how long it is when it was
// cut.
std::string cut_to_line(std::string_view text, std::size_t width);

} // namespace cellgate::gate
