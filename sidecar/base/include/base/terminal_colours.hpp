#pragma once
// without_colours() is a text without what sets a terminal's colours ("\x1b[0;31m"), and what clears its line
// ("\x1b[K").

#include <string>
#include <string_view>

namespace cellgate {

std::string without_colours(std::string_view text);

} // namespace cellgate
