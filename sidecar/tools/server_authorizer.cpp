#include "server_authorizer.hpp"

#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "mcp/oauth_client.hpp"
#include "server_errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

namespace cellgate::tools {

namespace {

using namespace std::chrono_literals;
using protocol::ToolServerAuthorization;

constexpr auto expiry_margin = std::chrono::seconds(60);
constexpr std::int64_t max_step_ups = 3;
constexpr std::size_t max_asked_scopes = 100;

std::string field_of(const std::string& token) {
    return "Bearer " + token;
}

std::vector<std::string> scope_words(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty() && words.size() < max_asked_scopes) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        if (!word.empty()) {
            words.emplace_back(word);
        }
    }
    return words;
}

bool has_scope(const std::vector<std::string>& scopes, std::string_view wanted) {
    return std::find(scopes.begin(), scopes.end(), wanted) != scopes.end();
}

void add_scopes(std::vector<std::string>& scopes, const std::vector<std::string>& more) {
    for (const std::string& scope : more) {
        if (!has_scope(scopes, scope)) {
            scopes.push_back(scope);
        }
    }
}

std::int64_t seconds_of(WallTime time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

bool is_metadata_url(const std::string& client_id) {
    return client_id.starts_with("https://");
}

} // namespace

ServerAuthorizer::ServerAuthorizer(async::Loop& loop, Clock& clock, LoginStore& store, LoginKey key)
    : loop_(loop), clock_(clock), store_(store), key_(std::move(key)) {}

Error ServerAuthorizer::login_required(const std::string& why) const {
    return Error(ErrorCode::login_required, fmt::format("the tool server {} {}", in_quotes(key_.server), why),
                 fmt::format("A user logs in: `cellgate login {}{}{}` in a terminal, or the editor's command for it.",
                             escape_unprintable(key_.server), settings_.login_options.empty() ? "" : " ",
                             escape_unprintable(settings_.login_options)));
}

ToolServerAuthorization ServerAuthorizer::state() const {
    if (settings_.client_credentials) {
        return own_.empty() ? ToolServerAuthorization::none : ToolServerAuthorization::granted;
    }
    const StoredLogin* login = store_.logins().login(key_);
    if (store_.logins().wish(key_) != nullptr) {
        return ToolServerAuthorization::needed;
    }
    if (login == nullptr) {
        return was_refused_ ? ToolServerAuthorization::needed : ToolServerAuthorization::none;
    }
    return expires(*login, 0s) && login->refresh_token.empty() ? ToolServerAuthorization::needed
                                                               : ToolServerAuthorization::granted;
}

mcp::DiscoveryStart ServerAuthorizer::discovery_start() const {
    mcp::DiscoveryStart start;
    start.server_url = key_.url;
    start.resource_metadata = challenge_.resource_metadata;
    start.was_refused = was_refused_;
    const StoredWish* wish = store_.logins().wish(key_);
    if (start.resource_metadata.empty() && wish != nullptr) {
        start.resource_metadata = wish->resource_metadata;
    }
    return start;
}

std::vector<std::string> ServerAuthorizer::scopes_for(const mcp::Authorization& found) const {
    std::vector<std::string> scopes = settings_.scopes;
    if (const StoredWish* wish = store_.logins().wish(key_)) {
        scopes = wish->scopes;
    }
    const bool chosen = !settings_.scopes.empty();
    if (scopes.empty()) {
        scopes = scope_words(challenge_.scope);
    }
    if (scopes.empty()) {
        scopes = found.scopes;
    }
    // Where nothing is asked for, the server gives what it thinks right: asking for this alone would be less.
    if (!chosen && !scopes.empty() && has_scope(found.server.scopes, "offline_access")) {
        add_scopes(scopes, {"offline_access"});
    }
    return scopes;
}

Task<std::optional<mcp::OAuthClientId>> ServerAuthorizer::configured_client(mcp::AuthorizationServer server) {
    const bool by_url = is_metadata_url(settings_.client_id);
    if (settings_.client_id.empty() || (by_url && !server.takes_metadata_urls)) {
        co_return std::nullopt;
    }
    const std::string& id = settings_.client_id;
    if (!settings_.client_secret.empty()) {
        for (const StoredBinding& each : store_.logins().bindings) {
            if (each.key == key_ && each.client_id == id && each.issuer != server.issuer) {
                throw failed(key_.server,
                             fmt::format("now names the authorization server {}; the configured secret is for {}",
                                         shortened(server.issuer, 200), shortened(each.issuer, 200)),
                             fmt::format("If that is right, `cellgate logout {}` forgets the old one.",
                                         escape_unprintable(key_.server)));
            }
        }
        const StoredBinding binding{key_, id, server.issuer};
        LoginStore::Change change = [binding](StoredLogins& logins) {
            std::erase_if(logins.bindings, [&](const StoredBinding& each) {
                return each.key == binding.key && each.client_id == binding.client_id;
            });
            logins.bindings.push_back(binding);
        };
        co_await store_.change(std::move(change));
    }
    std::string method = mcp::auth_method_for(server, settings_.client_secret);
    co_return mcp::OAuthClientId{id, settings_.client_secret, std::move(method)};
}

// ---- The field of a request -----------------------------------------------------------------------------------------

bool ServerAuthorizer::expires(const StoredLogin& login, std::chrono::seconds within) const {
    return login.expires_at && *login.expires_at <= seconds_of(clock_.wall() + within);
}

Task<std::string> ServerAuthorizer::authorization() {
    if (settings_.client_credentials) {
        if (own_expires_at_ && *own_expires_at_ <= clock_.wall() + expiry_margin) {
            std::string old = own_;
            co_await take_client_credentials(std::move(old));
        }
        co_return own_;
    }
    co_await store_.refresh(LoginStore::Look::seldom);
    const StoredLogin* login = store_.logins().login(key_);
    if (login != nullptr && expires(*login, expiry_margin) && !login->refresh_token.empty()) {
        std::string old = field_of(login->access_token);
        co_await refresh(std::move(old));
        login = store_.logins().login(key_);
    }
    // One that has expired is not sent: the server says then what it wants.
    if (login == nullptr || expires(*login, 0s)) {
        co_return std::string();
    }
    co_return field_of(login->access_token);
}

Task<bool> ServerAuthorizer::refused(int status, mcp::BearerChallenge challenge, std::string sent, bool again) {
    if (status == 401) {
        co_return co_await take_unauthorized(std::move(challenge), std::move(sent), again);
    }
    if (challenge.error == "insufficient_scope" && !sent.empty() && !settings_.client_credentials) {
        co_await take_step_up(std::move(challenge));
    }
    co_return false;
}

Task<bool> ServerAuthorizer::take_unauthorized(mcp::BearerChallenge challenge, std::string sent, bool again) {
    challenge_ = std::move(challenge);
    if (settings_.client_credentials) {
        if (again) {
            throw failed(key_.server, "does not take the token that its authorization server gave");
        }
        co_await take_client_credentials(std::move(sent));
        co_return true;
    }
    co_await store_.refresh(LoginStore::Look::now);
    const StoredLogin* login = store_.logins().login(key_);
    if (login != nullptr && field_of(login->access_token) != sent && !expires(*login, 0s)) {
        co_return true; // somebody logged in, or it was replaced, meanwhile
    }
    if (login != nullptr && !login->refresh_token.empty() && !again) {
        std::string old = field_of(login->access_token);
        co_await refresh(std::move(old));
        login = store_.logins().login(key_);
        if (login != nullptr) {
            co_return true;
        }
    } else if (login != nullptr) {
        std::string token = login->access_token;
        co_await drop_login(std::move(token));
    }
    was_refused_ = true;
    throw login_required(sent.empty() ? "wants a user to log in" : "wants a user to log in again");
}

Task<void> ServerAuthorizer::take_step_up(mcp::BearerChallenge challenge) {
    co_await store_.refresh(LoginStore::Look::now);
    const StoredLogin* login = store_.logins().login(key_);
    if (login == nullptr) {
        co_return;
    }
    const std::vector<std::string> asked = scope_words(challenge.scope);
    const auto was_asked = [login](const std::string& scope) {
        return has_scope(login->asked_scopes, scope) || has_scope(login->scopes, scope);
    };
    const std::string words = shortened(fmt::format("{}", fmt::join(asked, " ")), 200);
    if (asked.empty() || std::all_of(asked.begin(), asked.end(), was_asked)) {
        throw failed(key_.server,
                     fmt::format("refuses it for want of the scopes \"{}\", which the login asked for", words),
                     "This account may not have them. `cellgate login` with another one, or ask for them there.");
    }
    if (login->step_ups >= max_step_ups) {
        throw failed(
            key_.server, fmt::format("wants more scopes again (\"{}\"), after {} logins for more", words, max_step_ups),
            fmt::format("`cellgate logout {}`, then log in again, if that is right.", escape_unprintable(key_.server)));
    }
    StoredWish wish{key_, std::move(challenge.resource_metadata), login->asked_scopes};
    add_scopes(wish.scopes, login->scopes);
    add_scopes(wish.scopes, asked);
    LoginStore::Change change = [wish](StoredLogins& logins) { logins.set_wish(wish); };
    co_await store_.change(std::move(change));
    throw login_required(fmt::format("wants a login for more: the scopes \"{}\"", words));
}

// ---- New tokens -----------------------------------------------------------------------------------------------------

Task<void> ServerAuthorizer::refresh(std::string sent) {
    const Mutex::Lock lock = co_await renewing_.lock();
    co_await store_.refresh(LoginStore::Look::now);
    const StoredLogin* found = store_.logins().login(key_);
    if (found == nullptr || field_of(found->access_token) != sent) {
        co_return;
    }
    StoredLogin login = *found;
    mcp::AuthorizationServer server;
    server.issuer = login.issuer;
    server.token_endpoint = login.token_endpoint;
    mcp::OAuthRequests requests(loop_, clock_, key_.url);
    mcp::OAuthClient client(requests, std::move(server), login.resource);
    std::optional<mcp::Tokens> tokens;
    mcp::OAuthClientId id = oauth_client(login.client);
    std::string token = login.refresh_token;
    try {
        tokens = co_await client.refresh(std::move(id), std::move(token));
    } catch (const mcp::GrantRefused&) {
        // Another process may have used it, and have its successor.
    }
    if (!tokens) {
        co_await store_.refresh(LoginStore::Look::now);
        std::string old = login.access_token;
        co_await drop_login(std::move(old));
        co_return;
    }
    login.access_token = tokens->access;
    login.refresh_token = tokens->refresh;
    login.expires_at.reset();
    if (tokens->lifetime) {
        login.expires_at =
            seconds_of(clock_.wall() + std::chrono::duration_cast<WallTime::duration>(*tokens->lifetime));
    }
    if (!tokens->scopes.empty()) {
        login.scopes = tokens->scopes;
    }
    LoginStore::Change change = [login, sent](StoredLogins& logins) {
        const StoredLogin* now = logins.login(login.key);
        if (now != nullptr && field_of(now->access_token) == sent) { // no user logged in or out meanwhile
            logins.set_login(login);
        }
    };
    co_await shielded(store_.change(std::move(change)));
}

Task<void> ServerAuthorizer::drop_login(std::string access_token) {
    LoginStore::Change change = [key = key_, access_token](StoredLogins& logins) {
        const StoredLogin* now = logins.login(key);
        if (now != nullptr && now->access_token == access_token) {
            logins.remove_login(key);
        }
    };
    co_await store_.change(std::move(change));
}

Task<void> ServerAuthorizer::take_client_credentials(std::string sent) {
    const Mutex::Lock lock = co_await renewing_.lock();
    if (own_ != sent) {
        co_return; // there is another one by now
    }
    mcp::OAuthRequests requests(loop_, clock_, key_.url);
    mcp::DiscoveryStart start = discovery_start();
    start.was_refused = true;
    const mcp::Authorization found = co_await mcp::discover_authorization(requests, std::move(start));
    std::optional<mcp::OAuthClientId> id = co_await configured_client(found.server);
    if (!id || id->secret.empty()) {
        throw failed(key_.server, "wants a login, and its configuration has no secret for client_credentials",
                     "Give oauth.clientId and oauth.clientSecret in its configuration.");
    }
    mcp::OAuthClient client(requests, found.server, found.resource);
    std::vector<std::string> scopes = scopes_for(found);
    const mcp::Tokens tokens = co_await client.client_credentials(std::move(*id), std::move(scopes));
    own_ = field_of(tokens.access);
    own_expires_at_.reset();
    if (tokens.lifetime) {
        own_expires_at_ = clock_.wall() + std::chrono::duration_cast<WallTime::duration>(*tokens.lifetime);
    }
}

} // namespace cellgate::tools
