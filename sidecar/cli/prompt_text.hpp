#pragma once
// Lines of a question on a terminal. Only cellgate's own words stand at the left edge: what comes from elsewhere is
// indented, and broken before the terminal would break it, so that no text can look like a line of the question.

#include <cstddef>
#include <string>
#include <string_view>

namespace cellgate::cli {

// `text`, one line of visible characters, as lines of less than `columns`; each begins with a margin of two spaces, and
// those that go on with what the line before began, with a mark.
std::string prompt_lines(std::string_view text, std::size_t columns);

} // namespace cellgate::cli
