#pragma once
// `ServerAuthorizer` authorizes the requests to one tool server at a URL, by the login that is kept for it. It replaces
// a token that is about to expire, or that the server does not take any more, and says when a user has to log in. Its
// owner is ServerLogins.

#include "async/loop.hpp"
#include "base/clock.hpp"
#include "base/sync.hpp"
#include "login_store.hpp"
#include "mcp/authorization_discovery.hpp"
#include "mcp/authorizer.hpp"
#include "oauth_settings.hpp"
#include "protocol/messages/tool_servers.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace cellgate::tools {

class ServerAuthorizer final : public mcp::Authorizer {
  public:
    // `loop`, `clock` and `store` outlive it.
    ServerAuthorizer(async::Loop& loop, Clock& clock, LoginStore& store, LoginKey key);

    Task<std::string> authorization() override;
    Task<bool> refused(int status, mcp::BearerChallenge challenge, std::string sent, bool again) override;

    void configure(OAuthSettings settings) { settings_ = std::move(settings); }
    const OAuthSettings& settings() const { return settings_; }
    const LoginKey& key() const { return key_; }
    // As far as the store was read.
    protocol::ToolServerAuthorization state() const;
    // Without a login nothing works at all, as opposed to one for more.
    bool is_locked_out() const {
        return state() == protocol::ToolServerAuthorization::needed && store_.logins().wish(key_) == nullptr;
    }
    // Where a login begins.
    mcp::DiscoveryStart discovery_start() const;
    // What a login asks for, at a server with these scopes.
    std::vector<std::string> scopes_for(const mcp::Authorization& found) const;
    // The configured client, held to the first issuer that it was sent to; nothing if none is configured, or one that
    // this server does not take. Throws Error{tool_server_failed} for another issuer.
    Task<std::optional<mcp::OAuthClientId>> configured_client(mcp::AuthorizationServer server);
    Error login_required(const std::string& why) const;

  private:
    Task<bool> take_unauthorized(mcp::BearerChallenge challenge, std::string sent, bool again);
    Task<void> take_step_up(mcp::BearerChallenge challenge);
    // Replaces the tokens, unless others are there than those of `sent` already.
    Task<void> refresh(std::string sent);
    Task<void> take_client_credentials(std::string sent);
    Task<void> drop_login(std::string access_token);
    // Within a while from now.
    bool expires(const StoredLogin& login, std::chrono::seconds within) const;

    async::Loop& loop_;
    Clock& clock_;
    LoginStore& store_;
    LoginKey key_;
    OAuthSettings settings_;
    bool was_refused_ = false;       // for want of a login
    mcp::BearerChallenge challenge_; // the last one
    std::string own_;                // the field with the token of client_credentials, which is not kept
    std::optional<WallTime> own_expires_at_;
    Mutex renewing_;
};

} // namespace cellgate::tools
