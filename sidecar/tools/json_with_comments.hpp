#pragma once
// JSON as people write it into an editor's settings: with comments and with commas after the last element.

#include <string>
#include <string_view>

namespace cellgate::tools {

// `text` with what strict JSON does not have replaced by spaces, so that offsets stay. What is broken stays broken.
std::string strip_comments(std::string_view text);

} // namespace cellgate::tools
