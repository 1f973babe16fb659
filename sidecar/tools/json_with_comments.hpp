#pragma once
// `strip_comments` reads JSON as editors' settings have it: with comments and with commas after the last element.

#include <string>
#include <string_view>

namespace cellgate::tools {

// `text` with what strict JSON does not have replaced by spaces, so that offsets stay. What is broken stays broken.
std::string strip_comments(std::string_view text);

} // namespace cellgate::tools
