#pragma once
// visible_name() and in_quotes() make untrusted text safe inside a line that the sidecar writes.

#include <string>
#include <string_view>

namespace cellgate::gate {

// In quotes, with quotes, backslashes and hidden characters escaped: no text looks like another.
std::string in_quotes(std::string_view text);

// The same, but without quotes when it is a plain word or path, which cannot be mistaken for words of cellgate.
std::string visible_name(std::string_view text);

} // namespace cellgate::gate
