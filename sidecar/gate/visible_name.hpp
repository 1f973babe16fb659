#pragma once
// Untrusted text inside a line that the sidecar writes.

#include <string>
#include <string_view>

namespace cellgate::gate {

// In quotes, with quotes and backslashes escaped and all else that hides made visible: no text looks like another.
std::string in_quotes(std::string_view text);

// The same, but without quotes when it is a plain word or path, so that it cannot be mistaken for our own words.
std::string visible_name(std::string_view text);

} // namespace cellgate::gate
