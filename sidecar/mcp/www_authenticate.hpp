#pragma once
// `bearer_challenge` reads what a server that refuses a request wants: the challenge "Bearer" of its WWW-Authenticate
// fields (RFC 9110, RFC 6750, RFC 9728).

#include "async/http.hpp"
#include "mcp/authorizer.hpp"

#include <optional>

namespace cellgate::mcp {

// The first challenge "Bearer"; nothing if there is none. A field that is broken counts as far as it can be read.
std::optional<BearerChallenge> bearer_challenge(const async::HttpHead& head);

} // namespace cellgate::mcp
