#pragma once
// What may be written to a terminal of what a kernel printed: text and colours, nothing that moves, hides or asks.

#include <string>
#include <string_view>

namespace cellgate::cli {

// Lines, tabs and, with `colours`, SGR sequences stay; a lone carriage return becomes a line break; every other control
// or invisible character is written out.
std::string terminal_text(std::string_view text, bool colours);

} // namespace cellgate::cli
