#pragma once
// `prompt_lines` is the layout of foreign text in a prompt. Only cellgate's own words begin at the left edge: all other
// text is indented, and wrapped before the terminal would wrap it, so that no text can imitate a line of the prompt.

#include <cstddef>
#include <string>
#include <string_view>

namespace cellgate::cli {

// As much of `text` as fits into `width` columns; up to a space, where there is one near the end.
std::string_view first_columns(std::string_view text, std::size_t width);

// `text`, one line of printable characters, as lines shorter than `columns`. Each has a margin of two spaces;
// continuation lines also have a mark.
std::string prompt_lines(std::string_view text, std::size_t columns);

} // namespace cellgate::cli
