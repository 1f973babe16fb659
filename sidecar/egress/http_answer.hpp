#pragma once
// http_answer() is the proxy's own answer to a request that it refuses.

#include "base/error.hpp"

#include <string>

namespace cellgate::egress {

inline constexpr int service_unavailable = 503;

// The connection closes behind it.
std::string http_answer(int status, const std::string& reason);

// Of a request that was refused for this.
int http_status_of(ErrorCode code);

} // namespace cellgate::egress
