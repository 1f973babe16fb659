#pragma once
// `OAuthClient` speaks with one authorization server for one MCP server, as OAuth 2.1 and MCP have it: registration
// (RFC 7591), authorization requests with PKCE (RFC 7636) for one resource (RFC 8707), tokens, and revocation
// (RFC 7009). It keeps nothing. What the server sends is untrusted; no error names a token, a code or a secret.

#include "mcp/authorization_metadata.hpp"
#include "mcp/oauth_requests.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::mcp {

// How cellgate is known to an authorization server.
struct OAuthClientId {
    std::string id;
    std::string secret;      // empty: none
    std::string auth_method; // at the token endpoint: "client_secret_basic", "client_secret_post" or "none"
};

struct Tokens {
    std::string access;
    std::string refresh;              // empty: none
    std::vector<std::string> scopes;  // that were granted
    std::optional<Duration> lifetime; // of `access`, from now on
};

// A page that a user opens, and what its answer is held against.
struct AuthorizationRequest {
    std::string url;
    std::string redirect_uri;
    std::string state;
    std::string verifier; // of PKCE; secret
    std::vector<std::string> scopes;
};

// What an authorization server sent the user's browser to the redirect with.
struct AuthorizationResponse {
    std::optional<std::string> code;
    std::optional<std::string> issuer;
    std::optional<std::string> error;
};

// Thrown when a refresh token is not taken any more.
struct GrantRefused : Error {
    using Error::Error;
};

// The way in which a client with this secret (empty: none) identifies itself at its token endpoint.
std::string auth_method_for(const AuthorizationServer& server, const std::string& secret);

class OAuthClient {
  public:
    // `requests` outlive it.
    OAuthClient(OAuthRequests& requests, AuthorizationServer server, std::string resource);

    // Throw Error{tool_server_failed}.
    Task<OAuthClientId> register_client(std::string redirect_uri);
    AuthorizationRequest authorization_request(const OAuthClientId& client, std::string redirect_uri,
                                               std::vector<std::string> scopes) const;
    // The code that the response has. One of another authorization server is refused (RFC 9207).
    std::string code_of(const AuthorizationResponse& response) const;
    Task<Tokens> redeem(OAuthClientId client, AuthorizationRequest request, std::string code);
    // Throws GrantRefused.
    Task<Tokens> refresh(OAuthClientId client, std::string refresh_token);
    // Without a user.
    Task<Tokens> client_credentials(OAuthClientId client, std::vector<std::string> scopes);
    // Nothing where the server has no such endpoint.
    Task<void> revoke(OAuthClientId client, std::string token, std::string token_type);

  private:
    Task<OAuthAnswer> post_form(std::string url, OAuthClientId client, FormFields fields);
    Task<Tokens> request_tokens(OAuthClientId client, FormFields fields, std::vector<std::string> asked_scopes);

    OAuthRequests& requests_;
    AuthorizationServer server_;
    std::string resource_;
};

} // namespace cellgate::mcp
