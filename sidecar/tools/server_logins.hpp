#pragma once
// `ServerLogins` is the logins of users at tool servers: it has who authorizes the requests to each server, and carries
// out a login, from the page that the user opens to the tokens that are kept. One login waits for each server at most.
// The registry owns it, and awaits close().

#include "async/loop.hpp"
#include "base/clock.hpp"
#include "login_store.hpp"
#include "oauth_settings.hpp"
#include "server_authorizer.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace cellgate::tools {

class ServerLogins {
  public:
    using OnEnded = std::function<void(const protocol::ToolServersLoginEndedParams& ended)>;

    // `loop` and `clock` outlive it. What is kept is in `directory`.
    ServerLogins(async::Loop& loop, Clock& clock, const std::string& directory, OnEnded on_ended);
    ServerLogins(const ServerLogins&) = delete;
    ServerLogins& operator=(const ServerLogins&) = delete;
    ~ServerLogins();

    // For the server of this key; the same one each time.
    std::shared_ptr<ServerAuthorizer> authorizer(const LoginKey& key, OAuthSettings settings);
    // Makes the authorizers' states those that are kept now.
    Task<void> refresh();

    // Begins a login, in place of one that waits for the same server. `on_ended` is called once it has ended. Throws
    // Error{tool_server_failed}, and what discover_authorization() throws; then none has begun.
    Task<protocol::ToolServersLoginResult> begin(std::shared_ptr<ServerAuthorizer> authorizer);
    // Gives up the one that waits, if one does.
    Task<void> cancel(std::string server);
    // Forgets the tokens, then revokes them. A server that does not answer is logged.
    Task<void> logout(std::shared_ptr<ServerAuthorizer> authorizer);
    Task<void> close();

  private:
    struct Attempt;
    using AttemptPtr = std::shared_ptr<Attempt>;

    Task<void> open(AttemptPtr attempt);
    Task<void> open_receiver(AttemptPtr attempt);
    Task<mcp::OAuthClientId> client_for(AttemptPtr attempt);
    Task<void> finish(AttemptPtr attempt);
    Task<void> take_tokens(AttemptPtr attempt);
    // The next login registers again: the server may not know this one any more, and say so to the user alone.
    Task<void> forget_registration(AttemptPtr attempt);
    Task<void> revoke(StoredLogin login);

    async::Loop& loop_;
    Clock& clock_;
    LoginStore store_;
    OnEnded on_ended_;
    std::map<LoginKey, std::shared_ptr<ServerAuthorizer>> authorizers_;
    std::map<std::string, AttemptPtr> waiting_; // by server
    TaskScope tasks_;
};

} // namespace cellgate::tools
