#pragma once
// `truncate_text` shortens text of a kernel that has to fit into one message, such as an error's text, by cutting its
// middle.

#include <cstddef>
#include <string>
#include <string_view>

namespace cellgate::jupyter {

// The text itself, or its beginning and end with "[… 123 bytes cut …]" between them: at most `max_bytes`; valid UTF-8
// stays valid.
std::string truncate_text(std::string_view text, std::size_t max_bytes);

} // namespace cellgate::jupyter
