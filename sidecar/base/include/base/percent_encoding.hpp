#pragma once
// `percent_encode`, `percent_decode` and `form_decode` are the percent-encoding of URLs (RFC 3986).

#include <string>
#include <string_view>

namespace cellgate {

// All but letters, digits, "-._~" and the characters of `kept`.
std::string percent_encode(std::string_view text, std::string_view kept = {});
// A % without two hexadecimal digits behind it stays.
std::string percent_decode(std::string_view text);
// The same of what servers read as a form, such as a query: there, + is a blank.
std::string form_decode(std::string_view text);

} // namespace cellgate
