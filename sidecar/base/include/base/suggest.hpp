#pragma once
// `nearest_name` finds the name that was meant by a mistyped one; `did_you_mean` is the hint of an error about it.

#include <string>
#include <string_view>
#include <vector>

namespace cellgate {

// Letters in upper and lower case are alike, and so are the signs between words. Empty when none is near.
std::string nearest_name(std::string_view wanted, const std::vector<std::string>& names);

// Whether two names differ in nothing but letters in upper or lower case, and the signs between words.
bool is_spelled_like(std::string_view a, std::string_view b);

// "Did you mean tool-1? There are: tool-1, tool_2, and 7 more." Names come from outside: they are escaped. Nothing
// when there are none.
std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names);

} // namespace cellgate
