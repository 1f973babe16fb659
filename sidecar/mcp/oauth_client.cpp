#include "mcp/oauth_client.hpp"

#include "base/encoding.hpp"
#include "base/hash.hpp"
#include "base/json_codec.hpp"
#include "base/names.hpp"
#include "base/percent_encoding.hpp"
#include "base/text.hpp"
#include "http_answers.hpp"
#include "oauth_texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace cellgate::mcp {

namespace {

constexpr std::string_view form_type = "application/x-www-form-urlencoded";
constexpr std::size_t max_token_bytes = std::size_t{64} << 10;
constexpr std::size_t max_id_bytes = 4096;
constexpr std::int64_t max_lifetime_seconds = std::int64_t{10} * 365 * 24 * 3600;
// In the order in which they are preferred by a client with a secret.
constexpr std::array<std::string_view, 2> secret_methods = {"client_secret_basic", "client_secret_post"};

struct RegistrationRequest {
    std::string client_name = "cellgate";
    Texts redirect_uris;
    Texts grant_types{"authorization_code", "refresh_token"};
    Texts response_types{"code"};
    std::string token_endpoint_auth_method;
    std::string application_type = "native";
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("client_name", self.client_name);
        visit("redirect_uris", self.redirect_uris);
        visit("grant_types", self.grant_types);
        visit("response_types", self.response_types);
        visit("token_endpoint_auth_method", self.token_endpoint_auth_method);
        visit("application_type", self.application_type);
    }
};

struct Registration {
    std::string client_id;
    std::optional<std::string> client_secret;
    std::optional<std::string> token_endpoint_auth_method;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("client_id", self.client_id);
        visit("client_secret", self.client_secret);
        visit("token_endpoint_auth_method", self.token_endpoint_auth_method);
    }
};

struct TokenAnswer {
    std::string access_token;
    std::string token_type;
    std::optional<std::string> refresh_token;
    std::optional<std::string> scope;
    std::optional<double> expires_in;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("access_token", self.access_token);
        visit("token_type", self.token_type);
        visit("refresh_token", self.refresh_token);
        visit("scope", self.scope);
        visit("expires_in", self.expires_in);
    }
};

// One that can be the value of a header field.
bool is_bearer_token(const std::string& text) {
    return !text.empty() && text.size() <= max_token_bytes &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

Texts words_of(std::string_view text) {
    Texts words;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        if (!word.empty()) {
            words.emplace_back(word);
        }
    }
    return words;
}

// Of an answer that is an error (RFC 6749 section 5.2). Only its code is shown: the words beside it could repeat what
// was sent, which is secret.
std::string error_code_of(const OAuthAnswer& answer) {
    std::string code;
    try {
        code = json_member_text(RawJson::parse(answer.body).text(), "error").value_or("");
    } catch (const Error&) {
        // It is no JSON, and says nothing that could be shown.
    }
    const bool fits = !code.empty() && code.size() <= 60 &&
                      std::all_of(code.begin(), code.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
    return fits ? code : std::string();
}

Error refused_by(std::string_view what, const std::string& url, const OAuthAnswer& answer) {
    const std::string code = error_code_of(answer);
    return failed(fmt::format("{} refused {}: {}", shown(url), what,
                              code.empty() ? fmt::format("HTTP {}", answer.status) : code));
}

template <class Document>
Document read_answer(const OAuthAnswer& answer, std::string_view what, const std::string& url) {
    try {
        return from_json<Document>(RawJson::parse(answer.body), std::string(what));
    } catch (const Error&) {
        // Its words would show a part of the answer, which may be a token.
        throw failed(fmt::format("the {} of {} cannot be read", what, shown(url)));
    }
}

// 256 random bits.
std::string random_text() {
    return random_id() + random_id();
}

std::string bytes_of_hex(std::string_view hex) {
    std::string bytes;
    const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
        bytes += static_cast<char>(digit(hex[at]) * 16 + digit(hex[at + 1]));
    }
    return bytes;
}

std::string challenge_of(const std::string& verifier) {
    return encode_base64url(bytes_of_hex(sha256(verifier)));
}

} // namespace

OAuthClient::OAuthClient(OAuthRequests& requests, AuthorizationServer server, std::string resource)
    : requests_(requests), server_(std::move(server)), resource_(std::move(resource)) {}

std::string auth_method_for(const AuthorizationServer& server, const std::string& secret) {
    if (secret.empty()) {
        return "none";
    }
    for (const std::string_view method : secret_methods) {
        if (has_text(server.auth_methods, method)) {
            return std::string(method);
        }
    }
    return std::string(secret_methods.front());
}

Task<OAuthClientId> OAuthClient::register_client(std::string redirect_uri) {
    RegistrationRequest request;
    request.redirect_uris = {std::move(redirect_uri)};
    // A program on the user's machine keeps no secret from them: none is asked for where none is needed.
    const bool needs_none = has_text(server_.auth_methods, "none");
    request.token_endpoint_auth_method = needs_none ? "none" : auth_method_for(server_, "a secret");
    const std::string url = server_.registration_endpoint;
    std::string body = to_json(request);
    std::string content_type(json_type_name);
    std::string nobody;
    const OAuthAnswer answer =
        co_await requests_.post(url, std::move(content_type), std::move(body), std::move(nobody));
    if (!answer.succeeded()) {
        throw refused_by("to register cellgate", url, answer);
    }
    const Registration registration = read_answer<Registration>(answer, "registration", url);
    OAuthClientId client;
    client.id = registration.client_id;
    client.secret = registration.client_secret.value_or("");
    client.auth_method = registration.token_endpoint_auth_method.value_or(
        needs_none ? std::string("none") : auth_method_for(server_, client.secret));
    const bool known = client.auth_method == "none" || std::find(secret_methods.begin(), secret_methods.end(),
                                                                 client.auth_method) != secret_methods.end();
    if (client.id.empty() || client.id.size() > max_id_bytes || client.secret.size() > max_id_bytes || !known ||
        (client.auth_method != "none" && client.secret.empty())) {
        throw failed(fmt::format("the registration of {} cannot be used", shown(url)));
    }
    co_return client;
}

AuthorizationRequest OAuthClient::authorization_request(const OAuthClientId& client, std::string redirect_uri,
                                                        Texts scopes) const {
    if (server_.authorization_endpoint.empty()) {
        throw failed(fmt::format("{} has no page where a user could log in", shown(server_.issuer)));
    }
    AuthorizationRequest request;
    request.redirect_uri = std::move(redirect_uri);
    request.state = random_text();
    request.verifier = random_text();
    request.scopes = std::move(scopes);
    FormFields fields = {{"response_type", "code"},
                         {"client_id", client.id},
                         {"redirect_uri", request.redirect_uri},
                         {"state", request.state},
                         {"code_challenge", challenge_of(request.verifier)},
                         {"code_challenge_method", "S256"},
                         {"resource", resource_}};
    if (!request.scopes.empty()) {
        fields.emplace_back("scope", fmt::format("{}", fmt::join(request.scopes, " ")));
    }
    if (has_text(request.scopes, "offline_access")) {
        fields.emplace_back("prompt", "consent"); // OpenID Connect gives it for nothing less
    }
    request.url = with_query(server_.authorization_endpoint, fields);
    return request;
}

std::string OAuthClient::code_of(const AuthorizationResponse& response) const {
    if (response.issuer ? *response.issuer != server_.issuer : server_.names_itself) {
        throw failed(fmt::format("expected an answer of {}, found one of {}", shown(server_.issuer),
                                 response.issuer ? shown(*response.issuer) : "a server that does not name itself"),
                     "One authorization server could pass for another: the code was not used.");
    }
    if (!response.code) {
        throw failed(fmt::format("{} refused: {}", shown(server_.issuer), shown(response.error.value_or("no code"))));
    }
    return *response.code;
}

Task<OAuthAnswer> OAuthClient::post_form(std::string url, OAuthClientId client, FormFields fields) {
    std::string authorization;
    if (client.auth_method == secret_methods.front()) {
        authorization =
            "Basic " + encode_base64(fmt::format("{}:{}", percent_encode(client.id), percent_encode(client.secret)));
    } else {
        fields.emplace_back("client_id", client.id);
        if (client.auth_method != "none") {
            fields.emplace_back("client_secret", client.secret);
        }
    }
    return requests_.post(std::move(url), std::string(form_type), encode_form(fields), std::move(authorization));
}

Task<Tokens> OAuthClient::request_tokens(OAuthClientId client, FormFields fields, Texts asked_scopes) {
    const std::string url = server_.token_endpoint;
    fields.emplace_back("resource", resource_);
    const OAuthAnswer answer = co_await post_form(url, std::move(client), std::move(fields));
    if (!answer.succeeded()) {
        const Error error = refused_by("the token", url, answer);
        if (error_code_of(answer) == "invalid_grant") {
            throw GrantRefused(error.code, error.message);
        }
        throw Error(error);
    }
    const TokenAnswer found = read_answer<TokenAnswer>(answer, "answer", url);
    if (lower(found.token_type) != "bearer" || !is_bearer_token(found.access_token) ||
        (found.refresh_token && found.refresh_token->size() > max_token_bytes)) {
        throw failed(fmt::format("the answer of {} has no token that can be used", shown(url)));
    }
    Tokens tokens;
    tokens.access = found.access_token;
    tokens.refresh = found.refresh_token.value_or("");
    tokens.scopes = found.scope ? words_of(*found.scope) : std::move(asked_scopes);
    if (found.expires_in && *found.expires_in >= 0) {
        const double seconds = std::min(*found.expires_in, static_cast<double>(max_lifetime_seconds));
        tokens.lifetime = std::chrono::seconds(static_cast<std::int64_t>(seconds));
    }
    co_return tokens;
}

Task<Tokens> OAuthClient::redeem(OAuthClientId client, AuthorizationRequest request, std::string code) {
    FormFields fields = {{"grant_type", "authorization_code"},
                         {"code", std::move(code)},
                         {"redirect_uri", request.redirect_uri},
                         {"code_verifier", request.verifier}};
    return request_tokens(std::move(client), std::move(fields), std::move(request.scopes));
}

Task<Tokens> OAuthClient::refresh(OAuthClientId client, std::string refresh_token) {
    FormFields fields = {{"grant_type", "refresh_token"}, {"refresh_token", refresh_token}};
    Texts same_scopes;
    Tokens tokens = co_await request_tokens(std::move(client), std::move(fields), std::move(same_scopes));
    if (tokens.refresh.empty()) {
        tokens.refresh = std::move(refresh_token);
    }
    co_return tokens;
}

Task<Tokens> OAuthClient::client_credentials(OAuthClientId client, Texts scopes) {
    FormFields fields = {{"grant_type", "client_credentials"}};
    if (!scopes.empty()) {
        fields.emplace_back("scope", fmt::format("{}", fmt::join(scopes, " ")));
    }
    return request_tokens(std::move(client), std::move(fields), std::move(scopes));
}

Task<void> OAuthClient::revoke(OAuthClientId client, std::string token, std::string token_type) {
    if (server_.revocation_endpoint.empty()) {
        co_return;
    }
    FormFields fields = {{"token", std::move(token)}, {"token_type_hint", std::move(token_type)}};
    const std::string url = server_.revocation_endpoint;
    const OAuthAnswer answer = co_await post_form(url, std::move(client), std::move(fields));
    if (!answer.succeeded()) {
        throw refused_by("to revoke the token", url, answer);
    }
}

} // namespace cellgate::mcp
