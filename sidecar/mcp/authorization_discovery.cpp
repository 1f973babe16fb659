#include "mcp/authorization_discovery.hpp"

#include "oauth_texts.hpp"

#include <fmt/format.h>

#include <optional>

namespace cellgate::mcp {

namespace {

// The first document that is there. A URL that answers with an error has none.
Task<std::optional<std::string>> first_document(OAuthRequests* requests, std::vector<std::string> urls) {
    for (std::string& url : urls) {
        OAuthAnswer answer = co_await requests->get(std::move(url));
        if (answer.succeeded()) {
            co_return std::move(answer.body);
        }
    }
    co_return std::nullopt;
}

Task<std::optional<ResourceMetadata>> find_resource(OAuthRequests* requests, DiscoveryStart start) {
    std::vector<std::string> urls;
    if (!start.resource_metadata.empty()) {
        require_private(start.resource_metadata, "resource metadata");
        urls.push_back(start.resource_metadata);
    } else {
        urls = resource_metadata_urls(start.server_url);
    }
    const std::optional<std::string> text = co_await first_document(requests, std::move(urls));
    if (!text) {
        if (!start.resource_metadata.empty()) {
            throw failed(fmt::format("there is no resource metadata at {}", shown(start.resource_metadata)));
        }
        co_return std::nullopt;
    }
    co_return read_resource_metadata(*text, start.server_url);
}

Task<std::optional<AuthorizationServer>> find_server(OAuthRequests* requests, std::string issuer) {
    require_private(issuer, "authorization server");
    std::vector<std::string> urls = authorization_server_urls(issuer);
    const std::optional<std::string> text = co_await first_document(requests, std::move(urls));
    if (!text) {
        co_return std::nullopt;
    }
    co_return read_authorization_server(*text, issuer);
}

} // namespace

Task<Authorization> discover_authorization(OAuthRequests& requests, DiscoveryStart start) {
    require_private(start.server_url, "URL of an MCP server with a login");
    const std::optional<ResourceMetadata> resource = co_await find_resource(&requests, start);
    Authorization found;
    if (resource) {
        if (resource->authorization_servers.empty()) {
            throw failed("the resource metadata names no authorization server");
        }
        const std::string issuer = resource->authorization_servers.front();
        std::optional<AuthorizationServer> server = co_await find_server(&requests, issuer);
        if (!server) {
            throw failed(fmt::format("the authorization server {} has no metadata", shown(issuer)));
        }
        found.server = std::move(*server);
        found.resource = resource->resource;
        found.scopes = resource->scopes;
        co_return found;
    }
    if (!start.was_refused) {
        throw failed("it has no login: it takes requests without one, and has no resource metadata");
    }
    const std::string origin = parse_web_address(start.server_url).value().origin;
    std::optional<AuthorizationServer> server = co_await find_server(&requests, origin);
    found.server = server ? std::move(*server) : default_authorization_server(origin);
    found.resource = start.server_url;
    co_return found;
}

} // namespace cellgate::mcp
