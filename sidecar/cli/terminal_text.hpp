#pragma once
// `terminal_text` is the filter for a kernel's output on a terminal: text and colours, no other control sequences.

#include <string>
#include <string_view>

namespace cellgate::cli {

// Lines, tabs and, with `colours`, SGR sequences stay; a lone carriage return becomes a line break; every other control
// or invisible character is escaped.
std::string terminal_text(std::string_view text, bool colours);

} // namespace cellgate::cli
