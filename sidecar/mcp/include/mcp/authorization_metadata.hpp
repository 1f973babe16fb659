#pragma once
// `ResourceMetadata` (RFC 9728) and `AuthorizationServer` (RFC 8414) are the documents that say who gives tokens for an
// MCP server and how. Both are untrusted: what is kept was checked. The functions throw Error{tool_server_failed} for a
// document that must not be used.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::mcp {

struct ResourceMetadata {
    std::string resource; // for which tokens are asked: as it is written there
    std::vector<std::string> authorization_servers;
    std::vector<std::string> scopes; // that it names; all of them are asked for
};

struct AuthorizationServer {
    std::string issuer;
    std::string authorization_endpoint; // empty, as the ones below, where there is none
    std::string token_endpoint;
    std::string registration_endpoint;
    std::string revocation_endpoint;
    std::vector<std::string> scopes;
    std::vector<std::string> auth_methods; // of its token endpoint
    bool takes_metadata_urls = false;      // as client ids
    bool names_itself = false;             // in the answers to authorization requests (RFC 9207)
};

// Where the metadata of the MCP server at `server_url` may be, in the order in which to try.
std::vector<std::string> resource_metadata_urls(const std::string& server_url);
// `text` is the document of the MCP server at `server_url`. One that is for another server is refused.
ResourceMetadata read_resource_metadata(std::string_view text, const std::string& server_url);

std::vector<std::string> authorization_server_urls(const std::string& issuer);
// `text` is the document of `issuer`. One of another issuer is refused, and one whose endpoints could be listened to,
// or that would redeem a stolen code (without PKCE by S256).
AuthorizationServer read_authorization_server(std::string_view text, const std::string& issuer);
// That of an MCP server that names none and has no document: 2025-03-26 has it at its own origin.
AuthorizationServer default_authorization_server(const std::string& origin);

// https, or http on this machine. Throws Error{tool_server_failed}; `what` says what it is.
void require_private(const std::string& url, std::string_view what);

} // namespace cellgate::mcp
