#include "server_logins.hpp"

#include "base/log.hpp"
#include "mcp/web_address.hpp"
#include "redirect_receiver.hpp"
#include "server_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace cellgate::tools {

namespace {

using namespace std::chrono_literals;
using protocol::LoginStatus;

constexpr Duration login_limit = 10min;

std::int64_t expiry_of(WallTime now, Duration lifetime) {
    const WallTime end = now + std::chrono::duration_cast<WallTime::duration>(lifetime);
    return std::chrono::duration_cast<std::chrono::seconds>(end.time_since_epoch()).count();
}

} // namespace

// A login under way.
struct ServerLogins::Attempt {
    Attempt(async::Loop& loop, Clock& clock, std::shared_ptr<ServerAuthorizer> authorizer_)
        : authorizer(std::move(authorizer_)), requests(loop, clock, authorizer->key().url) {}

    std::shared_ptr<ServerAuthorizer> authorizer;
    mcp::OAuthRequests requests;
    mcp::Authorization found;
    std::unique_ptr<RedirectReceiver> receiver;
    std::unique_ptr<mcp::OAuthClient> client;
    mcp::OAuthClientId id;
    mcp::AuthorizationRequest request;
    std::shared_ptr<CancelState> task; // that waits for the user
    Event ended;
};

ServerLogins::ServerLogins(async::Loop& loop, Clock& clock, const std::string& directory, OnEnded on_ended)
    : loop_(loop), clock_(clock), store_(loop, clock, directory), on_ended_(std::move(on_ended)) {}

ServerLogins::~ServerLogins() = default;

std::shared_ptr<ServerAuthorizer> ServerLogins::authorizer(const LoginKey& key, OAuthSettings settings) {
    std::shared_ptr<ServerAuthorizer>& authorizer = authorizers_[key];
    if (!authorizer) {
        authorizer = std::make_shared<ServerAuthorizer>(loop_, clock_, store_, key);
    }
    authorizer->configure(std::move(settings));
    return authorizer;
}

Task<void> ServerLogins::refresh() {
    return store_.refresh(LoginStore::Look::now);
}

// ---- The beginning --------------------------------------------------------------------------------------------------

Task<protocol::ToolServersLoginResult> ServerLogins::begin(std::shared_ptr<ServerAuthorizer> authorizer) {
    const std::string server = authorizer->key().server;
    if (authorizer->settings().client_credentials) {
        throw Error(ErrorCode::invalid_params,
                    fmt::format("no user logs in to the tool server {}: its configuration says client_credentials",
                                in_quotes(server)));
    }
    co_await cancel(server);
    const auto attempt = std::make_shared<Attempt>(loop_, clock_, authorizer);
    co_await open(attempt);
    co_await cancel(server); // one that began meanwhile
    waiting_[server] = attempt;
    attempt->task = tasks_.spawn(finish(attempt));
    protocol::ToolServersLoginResult result;
    result.authorization_url = attempt->request.url;
    result.host = mcp::parse_web_address(attempt->found.server.authorization_endpoint).value().endpoint.host.name;
    co_return result;
}

Task<void> ServerLogins::open(AttemptPtr attempt) {
    co_await store_.refresh(LoginStore::Look::now);
    mcp::DiscoveryStart start = attempt->authorizer->discovery_start();
    attempt->found = co_await mcp::discover_authorization(attempt->requests, std::move(start));
    const mcp::Authorization& found = attempt->found;
    attempt->client = std::make_unique<mcp::OAuthClient>(attempt->requests, found.server, found.resource);
    co_await open_receiver(attempt);
    attempt->id = co_await client_for(attempt);
    attempt->request = attempt->client->authorization_request(attempt->id, attempt->receiver->uri(),
                                                              attempt->authorizer->scopes_for(found));
}

// At the port that is kept, so that a registration holds for the next login, too.
Task<void> ServerLogins::open_receiver(AttemptPtr attempt) {
    const std::uint16_t wanted = attempt->authorizer->settings().callback_port;
    const auto kept = static_cast<std::uint16_t>(store_.logins().redirect_port);
    try {
        attempt->receiver = std::make_unique<RedirectReceiver>(loop_, clock_, wanted != 0 ? wanted : kept);
    } catch (const Error&) {
        if (wanted != 0) {
            throw;
        }
    }
    if (!attempt->receiver) { // another login has the port
        attempt->receiver = std::make_unique<RedirectReceiver>(loop_, clock_, std::uint16_t{0});
    }
    if (wanted == 0 && kept == 0) {
        const std::int64_t port = attempt->receiver->port();
        LoginStore::Change change = [port](StoredLogins& logins) { logins.redirect_port = port; };
        co_await store_.change(std::move(change));
    }
}

Task<mcp::OAuthClientId> ServerLogins::client_for(AttemptPtr attempt) {
    const mcp::AuthorizationServer& server = attempt->found.server;
    std::optional<mcp::OAuthClientId> configured = co_await attempt->authorizer->configured_client(server);
    if (configured) {
        co_return std::move(*configured);
    }
    const std::string uri = attempt->receiver->uri();
    for (const StoredRegistration& each : store_.logins().registrations) {
        if (each.issuer == server.issuer && each.redirect_uri == uri) {
            co_return oauth_client(each.client);
        }
    }
    if (server.registration_endpoint.empty()) {
        throw failed(
            attempt->authorizer->key().server,
            fmt::format("wants a login at {}, where cellgate cannot register itself", shortened(server.issuer, 200)),
            "Register it there, and give the id as oauth.clientId in the server's configuration.");
    }
    std::string redirect_uri = uri;
    mcp::OAuthClientId registered = co_await attempt->client->register_client(std::move(redirect_uri));
    const StoredRegistration registration{server.issuer, uri, stored_client(registered)};
    LoginStore::Change change = [registration](StoredLogins& logins) {
        std::erase_if(logins.registrations, [&](const StoredRegistration& each) {
            return each.issuer == registration.issuer && each.redirect_uri == registration.redirect_uri;
        });
        logins.registrations.push_back(registration);
    };
    co_await store_.change(std::move(change));
    co_return registered;
}

// ---- The end --------------------------------------------------------------------------------------------------------

Task<void> ServerLogins::finish(AttemptPtr attempt) {
    protocol::ToolServersLoginEndedParams ended;
    ended.server = attempt->authorizer->key().server;
    std::exception_ptr cancelled;
    try {
        const bool in_time = co_await with_timeout(clock_, login_limit, take_tokens(attempt));
        ended.status = in_time ? LoginStatus::granted : LoginStatus::cancelled;
    } catch (const Cancelled&) {
        ended.status = LoginStatus::cancelled;
        cancelled = std::current_exception();
    } catch (const Error& error) {
        ended.status = LoginStatus::failed;
        ended.message = error.hint.empty() ? error.message : fmt::format("{}. {}", error.message, error.hint);
    }
    attempt->receiver->close();
    if (ended.status != LoginStatus::granted) {
        co_await shielded(forget_registration(attempt));
    }
    const auto waiting = waiting_.find(ended.server);
    if (waiting != waiting_.end() && waiting->second == attempt) {
        waiting_.erase(waiting);
    }
    on_ended_(ended);
    attempt->ended.set();
    if (cancelled) {
        std::rethrow_exception(cancelled);
    }
}

Task<void> ServerLogins::forget_registration(AttemptPtr attempt) {
    const auto is_of_attempt = [attempt](const StoredRegistration& each) {
        return each.issuer == attempt->found.server.issuer && each.client.id == attempt->id.id;
    };
    const std::vector<StoredRegistration>& all = store_.logins().registrations;
    if (std::none_of(all.begin(), all.end(), is_of_attempt)) {
        co_return;
    }
    LoginStore::Change change = [is_of_attempt](StoredLogins& logins) {
        std::erase_if(logins.registrations, is_of_attempt);
    };
    try {
        co_await store_.change(std::move(change));
    } catch (const Error& error) {
        log_warning("a registration at an authorization server was not forgotten: {}", error.message);
    }
}

Task<void> ServerLogins::take_tokens(AttemptPtr attempt) {
    std::string state = attempt->request.state;
    const mcp::AuthorizationResponse response = co_await attempt->receiver->receive(std::move(state));
    std::string code = attempt->client->code_of(response);
    mcp::OAuthClientId id = attempt->id;
    mcp::AuthorizationRequest request = attempt->request;
    const mcp::Tokens tokens = co_await attempt->client->redeem(std::move(id), std::move(request), std::move(code));
    StoredLogin login;
    login.key = attempt->authorizer->key();
    login.issuer = attempt->found.server.issuer;
    login.token_endpoint = attempt->found.server.token_endpoint;
    login.revocation_endpoint = attempt->found.server.revocation_endpoint;
    login.resource = attempt->found.resource;
    login.client = stored_client(attempt->id);
    login.access_token = tokens.access;
    login.refresh_token = tokens.refresh;
    login.scopes = tokens.scopes;
    login.asked_scopes = attempt->request.scopes;
    if (tokens.lifetime) {
        login.expires_at = expiry_of(clock_.wall(), *tokens.lifetime);
    }
    LoginStore::Change change = [login](StoredLogins& logins) {
        StoredLogin kept = login;
        const StoredLogin* before = logins.login(login.key);
        const bool is_step_up = before != nullptr && logins.wish(login.key) != nullptr;
        kept.step_ups = is_step_up ? before->step_ups + 1 : 0;
        logins.set_login(std::move(kept));
        logins.remove_wish(login.key);
    };
    co_await store_.change(std::move(change));
}

Task<void> ServerLogins::cancel(std::string server) {
    const auto waiting = waiting_.find(server);
    if (waiting == waiting_.end()) {
        co_return;
    }
    const AttemptPtr attempt = waiting->second;
    attempt->task->cancel();
    co_await attempt->ended.wait();
}

Task<void> ServerLogins::logout(std::shared_ptr<ServerAuthorizer> authorizer) {
    const LoginKey key = authorizer->key();
    std::string server = key.server;
    co_await cancel(std::move(server));
    co_await store_.refresh(LoginStore::Look::now);
    std::optional<StoredLogin> login;
    if (const StoredLogin* found = store_.logins().login(key)) {
        login = *found;
    }
    const auto binds = [&key](const StoredBinding& each) { return each.key == key; };
    const std::vector<StoredBinding>& bindings = store_.logins().bindings;
    if (login || store_.logins().wish(key) != nullptr || std::any_of(bindings.begin(), bindings.end(), binds)) {
        LoginStore::Change change = [key](StoredLogins& logins) {
            logins.remove_login(key);
            logins.remove_wish(key);
            std::erase_if(logins.bindings, [&key](const StoredBinding& each) { return each.key == key; });
        };
        co_await store_.change(std::move(change));
    }
    if (login) {
        co_await revoke(std::move(*login));
    }
}

Task<void> ServerLogins::revoke(StoredLogin login) {
    mcp::AuthorizationServer server;
    server.issuer = login.issuer;
    server.revocation_endpoint = login.revocation_endpoint;
    mcp::OAuthRequests requests(loop_, clock_, login.key.url);
    mcp::OAuthClient client(requests, std::move(server), login.resource);
    std::vector<std::pair<std::string, std::string>> tokens = {{login.refresh_token, "refresh_token"},
                                                               {login.access_token, "access_token"}};
    for (auto& [token, type] : tokens) {
        if (token.empty()) {
            continue;
        }
        mcp::OAuthClientId id = oauth_client(login.client);
        try {
            co_await client.revoke(std::move(id), std::move(token), std::move(type));
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            log_warning("a token for the tool server {} was forgotten, and not revoked: {}",
                        in_quotes(login.key.server), error.message);
        }
    }
}

Task<void> ServerLogins::close() {
    tasks_.cancel();
    co_await tasks_.join();
}

} // namespace cellgate::tools
