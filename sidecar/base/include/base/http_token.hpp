#pragma once
// is_http_token() is whether a text is a token of HTTP (RFC 9110): a method, or the name of a field.

#include <string_view>

namespace cellgate {

bool is_http_token(std::string_view text);

} // namespace cellgate
