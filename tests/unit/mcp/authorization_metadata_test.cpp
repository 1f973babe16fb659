#include "base/error.hpp"
#include "mcp/authorization_metadata.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace cellgate;
using namespace cellgate::mcp;

namespace {

using Texts = std::vector<std::string>;

template <class Action>
std::string refusal_of(const Action& action) {
    try {
        action();
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::tool_server_failed);
        return error.message;
    }
    return "nothing was refused";
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

const std::string issuer = "https://login.example/tenant";

std::string server_document(const std::string& more) {
    return fmt::format(R"({{"issuer":"{}","authorization_endpoint":"https://login.example/a",)"
                       R"("token_endpoint":"https://login.example/t"{}}})",
                       issuer, more);
}
const std::string with_pkce = R"(,"code_challenge_methods_supported":["plain","S256"])";

} // namespace

TEST_CASE("the metadata of a server is looked for at its path, then at the root") {
    CHECK(resource_metadata_urls("https://example.org/a/mcp") ==
          Texts{"https://example.org/.well-known/oauth-protected-resource/a/mcp",
                "https://example.org/.well-known/oauth-protected-resource"});
    CHECK(resource_metadata_urls("https://example.org/") ==
          Texts{"https://example.org/.well-known/oauth-protected-resource"});
}

TEST_CASE("the metadata of an issuer with a path is looked for at three places, without one at two") {
    CHECK(authorization_server_urls(issuer) ==
          Texts{"https://login.example/.well-known/oauth-authorization-server/tenant",
                "https://login.example/.well-known/openid-configuration/tenant",
                "https://login.example/tenant/.well-known/openid-configuration"});
    CHECK(authorization_server_urls("https://login.example") ==
          Texts{"https://login.example/.well-known/oauth-authorization-server",
                "https://login.example/.well-known/openid-configuration"});
}

TEST_CASE("resource metadata has to be for the server that it was asked for") {
    const auto read = [](const std::string& resource) {
        return read_resource_metadata(
            fmt::format(R"({{"resource":"{}","authorization_servers":["https://login.example"],)"
                        R"("scopes_supported":["a","b c"]}})",
                        resource),
            "https://example.org/a/mcp");
    };
    for (const char* fits :
         {"https://example.org/a/mcp", "https://EXAMPLE.org:443/a", "https://example.org/", "https://example.org"}) {
        CAPTURE(fits);
        CHECK(read(fits).resource == fits); // as it is written
    }
    CHECK(read("https://example.org").scopes == Texts{"a"}); // a scope has no blank
    for (const char* other : {"https://evil.example/a/mcp", "http://example.org/a/mcp", "https://example.org/a/m",
                              "https://example.org/a/mcp/b", "https://example.org:8443/a/mcp"}) {
        CAPTURE(other);
        CHECK(has(refusal_of([&] { read(other); }), "the resource metadata is for"));
    }
    CHECK(has(refusal_of([&] { read_resource_metadata("<html>", "https://example.org"); }), "is broken"));
    CHECK(has(refusal_of([&] { read_resource_metadata("{}", "https://example.org"); }), "is broken"));
}

TEST_CASE("an authorization server is used under its own issuer only") {
    CHECK(read_authorization_server(server_document(with_pkce), issuer).token_endpoint == "https://login.example/t");
    for (const char* asked :
         {"https://login.example", "https://login.example/tenant/", "https://LOGIN.example/tenant"}) {
        CAPTURE(asked);
        CHECK(has(refusal_of([&] { read_authorization_server(server_document(with_pkce), asked); }), "metadata is of"));
    }
}

TEST_CASE("a login needs PKCE with S256") {
    CHECK(has(refusal_of([] { read_authorization_server(server_document(""), issuer); }), "PKCE"));
    const std::string plain = R"(,"code_challenge_methods_supported":["plain"])";
    CHECK(has(refusal_of([&] { read_authorization_server(server_document(plain), issuer); }), "PKCE"));
}

TEST_CASE("each endpoint is reached by https, or is on this machine") {
    for (const char* name : {"registration_endpoint", "revocation_endpoint"}) {
        CAPTURE(name);
        const auto with = [&](const char* url) {
            return server_document(fmt::format(R"({},"{}":"{}")", with_pkce, name, url));
        };
        CHECK_NOTHROW(read_authorization_server(with("https://other.example/x"), issuer));
        CHECK_NOTHROW(read_authorization_server(with("http://127.0.0.1:8080/x"), issuer));
        CHECK(has(refusal_of([&] { read_authorization_server(with("http://login.example/x"), issuer); }), "https"));
        CHECK(has(refusal_of([&] { read_authorization_server(with("file:///etc/passwd"), issuer); }), "a URL"));
    }
}

TEST_CASE("without documents the server's own origin gives tokens") {
    const AuthorizationServer server = default_authorization_server("https://example.org");
    CHECK(server.authorization_endpoint == "https://example.org/authorize");
    CHECK(server.token_endpoint == "https://example.org/token");
    CHECK(server.registration_endpoint == "https://example.org/register");
    CHECK(has(refusal_of([] { default_authorization_server("http://example.org"); }), "https"));
}
