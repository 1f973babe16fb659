#pragma once
// `did_you_mean` is the hint of an error about a name that does not exist.

#include <string>
#include <string_view>
#include <vector>

namespace cellgate {

// "Did you mean tool-1? There are: tool-1, tool_2, and 7 more." Names come from outside: they are escaped. Nothing
// when there are none.
std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names);

} // namespace cellgate
