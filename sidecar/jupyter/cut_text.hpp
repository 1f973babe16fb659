#pragma once
// Text of a kernel that goes into one message whole, such as an error's words: beyond a size its middle is left out.

#include <cstddef>
#include <string>
#include <string_view>

namespace cellgate::jupyter {

// The text itself, or its beginning and end with "[… 123 bytes cut …]" between them: at most `max_bytes`, and UTF-8 as
// it was.
std::string cut_text(std::string_view text, std::size_t max_bytes);

} // namespace cellgate::jupyter
