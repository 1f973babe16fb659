#pragma once
// `discover_authorization` finds out which authorization server gives tokens for an MCP server: by the document that
// the server names when it refuses a request, by its well-known documents, or, for servers of 2025-03-26, at its own
// origin.

#include "mcp/authorization_metadata.hpp"
#include "mcp/oauth_requests.hpp"

#include <string>
#include <vector>

namespace cellgate::mcp {

struct Authorization {
    AuthorizationServer server;
    std::string resource;            // for which tokens are asked
    std::vector<std::string> scopes; // that the MCP server names in its document
};

struct DiscoveryStart {
    std::string server_url;        // the MCP server's
    std::string resource_metadata; // that the server named; empty: none
    bool was_refused = false;      // so that it wants a login, whatever documents there are
};

// `requests` must outlive it. Throws Error{tool_server_failed}: for documents that must not be used, and for a server
// that wants no login.
Task<Authorization> discover_authorization(OAuthRequests& requests, DiscoveryStart start);

} // namespace cellgate::mcp
