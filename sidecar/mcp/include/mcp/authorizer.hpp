#pragma once
// `Authorizer` is asked for what authorizes the requests to an MCP server over HTTP, and learns which ones the server
// refused. One for each server; it outlives the connections that use it.

#include "base/task.hpp"

#include <string>

namespace cellgate::mcp {

// What a server says that refuses a request (WWW-Authenticate: Bearer …). Each text is empty if it says nothing.
struct BearerChallenge {
    std::string resource_metadata; // a URL
    std::string scope;             // names, with spaces between
    std::string error;
};

class Authorizer {
  public:
    Authorizer() = default;
    Authorizer(const Authorizer&) = delete;
    Authorizer& operator=(const Authorizer&) = delete;
    virtual ~Authorizer() = default;

    // The field Authorization of the next request; empty: none. A token that is about to expire is replaced first.
    virtual Task<std::string> authorization() = 0;
    // The server refused a request that had the field `sent`: it wants another token (401), or one for more (403).
    // `again`: so it did before with another field. Whether there is another one by now, so that the request may be
    // sent again. Throws Error{login_required} when a user has to log in, and Error{tool_server_failed} when that would
    // not help.
    virtual Task<bool> refused(int status, BearerChallenge challenge, std::string sent, bool again) = 0;
};

} // namespace cellgate::mcp
