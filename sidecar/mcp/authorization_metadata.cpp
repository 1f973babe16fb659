#include "mcp/authorization_metadata.hpp"

#include "base/json_codec.hpp"
#include "oauth_texts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::mcp {

namespace {

constexpr std::size_t max_scopes = 200;
constexpr std::size_t max_scope_bytes = 200;
constexpr std::size_t max_authorization_servers = 16;
constexpr std::string_view resource_document = "/.well-known/oauth-protected-resource";
constexpr std::string_view server_document = "/.well-known/oauth-authorization-server";
constexpr std::string_view openid_document = "/.well-known/openid-configuration";

struct ResourceDocument {
    std::string resource;
    std::optional<Texts> authorization_servers;
    std::optional<Texts> scopes_supported;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("resource", self.resource);
        visit("authorization_servers", self.authorization_servers);
        visit("scopes_supported", self.scopes_supported);
    }
};

struct ServerDocument {
    std::string issuer;
    std::optional<std::string> authorization_endpoint;
    std::string token_endpoint;
    std::optional<std::string> registration_endpoint;
    std::optional<std::string> revocation_endpoint;
    std::optional<Texts> scopes_supported;
    std::optional<Texts> code_challenge_methods_supported;
    std::optional<Texts> token_endpoint_auth_methods_supported;
    std::optional<bool> client_id_metadata_document_supported;
    std::optional<bool> authorization_response_iss_parameter_supported;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("issuer", self.issuer);
        visit("authorization_endpoint", self.authorization_endpoint);
        visit("token_endpoint", self.token_endpoint);
        visit("registration_endpoint", self.registration_endpoint);
        visit("revocation_endpoint", self.revocation_endpoint);
        visit("scopes_supported", self.scopes_supported);
        visit("code_challenge_methods_supported", self.code_challenge_methods_supported);
        visit("token_endpoint_auth_methods_supported", self.token_endpoint_auth_methods_supported);
        visit("client_id_metadata_document_supported", self.client_id_metadata_document_supported);
        visit("authorization_response_iss_parameter_supported", self.authorization_response_iss_parameter_supported);
    }
};

template <class Document>
Document read_document(std::string_view text, std::string_view what) {
    try {
        return from_json<Document>(RawJson::parse(text), std::string(what));
    } catch (const Error& error) {
        throw failed(fmt::format("the {} is broken: {}", what, shown(error.message)));
    }
}

// Characters that RFC 6749 allows in a scope.
bool is_scope(const std::string& scope) {
    return !scope.empty() && scope.size() <= max_scope_bytes &&
           std::all_of(scope.begin(), scope.end(), [](char c) { return c > ' ' && c <= '~' && c != '"' && c != '\\'; });
}

Texts usable_scopes(const std::optional<Texts>& named) {
    Texts scopes;
    for (const std::string& scope : named.value_or(Texts{})) {
        if (is_scope(scope) && scopes.size() < max_scopes) {
            scopes.push_back(scope);
        }
    }
    return scopes;
}

// Without the slash at its end, which says nothing.
std::string_view trimmed(std::string_view path) {
    while (path.ends_with('/')) {
        path.remove_suffix(1);
    }
    return path;
}

bool applies_to(const WebAddress& resource, const WebAddress& server) {
    const std::string_view prefix = trimmed(resource.path);
    const std::string_view path = server.path;
    return same_origin(resource, server) && path.starts_with(prefix) &&
           (path.size() == prefix.size() || path[prefix.size()] == '/');
}

} // namespace

void require_private(const std::string& url, std::string_view what) {
    const WebAddress address = require_address(url, what);
    if (!address.secure && !is_loopback(address)) {
        throw failed(fmt::format("expected an https URL as the {}, found \"{}\"", what, shown(url)),
                     "Over http others on the way could read the tokens.");
    }
}

Texts resource_metadata_urls(const std::string& server_url) {
    const WebAddress address = require_address(server_url, "URL of the MCP server");
    const std::string root = address.origin + std::string(resource_document);
    if (trimmed(address.path).empty()) {
        return {root};
    }
    return {root + std::string(trimmed(address.path)) + address.query, root};
}

ResourceMetadata read_resource_metadata(std::string_view text, const std::string& server_url) {
    ResourceDocument document = read_document<ResourceDocument>(text, "resource metadata");
    const WebAddress resource = require_address(document.resource, "resource");
    if (!applies_to(resource, require_address(server_url, "URL of the MCP server"))) {
        throw failed(
            fmt::format("the resource metadata is for {}, not for {}", shown(document.resource), shown(server_url)),
            "A token for another server could be stolen: nothing was asked for.");
    }
    ResourceMetadata metadata;
    metadata.resource = std::move(document.resource);
    metadata.authorization_servers = std::move(document.authorization_servers).value_or(Texts{});
    if (metadata.authorization_servers.size() > max_authorization_servers) {
        throw failed(
            fmt::format("expected resource metadata with at most {} authorization servers", max_authorization_servers));
    }
    metadata.scopes = usable_scopes(document.scopes_supported);
    return metadata;
}

Texts authorization_server_urls(const std::string& issuer) {
    const WebAddress address = require_address(issuer, "issuer");
    const std::string path(trimmed(address.path));
    const std::string& origin = address.origin;
    if (path.empty()) {
        return {fmt::format("{}{}", origin, server_document), fmt::format("{}{}", origin, openid_document)};
    }
    return {fmt::format("{}{}{}", origin, server_document, path), fmt::format("{}{}{}", origin, openid_document, path),
            fmt::format("{}{}{}", origin, path, openid_document)};
}

AuthorizationServer read_authorization_server(std::string_view text, const std::string& issuer) {
    ServerDocument document = read_document<ServerDocument>(text, "authorization server's metadata");
    if (document.issuer != issuer) {
        throw failed(fmt::format("the authorization server's metadata is of {}, not of {}", shown(document.issuer),
                                 shown(issuer)),
                     "One server could pass for another: nothing was asked for.");
    }
    if (document.authorization_endpoint &&
        !has_text(document.code_challenge_methods_supported.value_or(Texts{}), "S256")) {
        throw failed(fmt::format("the authorization server {} does not list PKCE with S256", shown(issuer)),
                     "Without it a code that somebody else reads could be redeemed by them.");
    }
    AuthorizationServer server;
    server.issuer = issuer;
    server.authorization_endpoint = document.authorization_endpoint.value_or("");
    server.token_endpoint = document.token_endpoint;
    server.registration_endpoint = document.registration_endpoint.value_or("");
    server.revocation_endpoint = document.revocation_endpoint.value_or("");
    server.scopes = usable_scopes(document.scopes_supported);
    // RFC 8414: that is what an absent list means.
    server.auth_methods = document.token_endpoint_auth_methods_supported.value_or(Texts{"client_secret_basic"});
    server.takes_metadata_urls = document.client_id_metadata_document_supported.value_or(false);
    server.names_itself = document.authorization_response_iss_parameter_supported.value_or(false);
    const std::pair<const std::string*, std::string_view> endpoints[] = {
        {&server.authorization_endpoint, "authorization endpoint"},
        {&server.token_endpoint, "token endpoint"},
        {&server.registration_endpoint, "registration endpoint"},
        {&server.revocation_endpoint, "revocation endpoint"}};
    for (const auto& [url, what] : endpoints) {
        if (!url->empty()) {
            require_private(*url, what);
        }
    }
    return server;
}

AuthorizationServer default_authorization_server(const std::string& origin) {
    require_private(origin, "authorization server");
    AuthorizationServer server;
    server.issuer = origin;
    server.authorization_endpoint = origin + "/authorize";
    server.token_endpoint = origin + "/token";
    server.registration_endpoint = origin + "/register";
    server.auth_methods = {"client_secret_basic", "none"};
    return server;
}

} // namespace cellgate::mcp
