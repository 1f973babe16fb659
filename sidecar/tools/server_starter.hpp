#pragma once
// `ServerStarter` starts a tool server: it asks the gate about exactly what starts, starts that, and connects to it.
// Which server starts when is for RunningServers to say.

#include "gate/gate.hpp"
#include "http_server_link.hpp"
#include "mcp_tool_server.hpp"
#include "server_inputs.hpp"
#include "server_logins.hpp"
#include "server_secrets.hpp"
#include "tools/call_context.hpp"
#include "tools/registry.hpp"

#include <memory>
#include <string>

namespace cellgate::tools {

// One start, shared by all callers that wait for it. What starts is what was shown, whatever is configured meanwhile.
struct ServerLaunch {
    ServerSpec spec;
    ServerDescription described;
    GivenValues given;
    gate::OutcomeReport outcome;
    std::shared_ptr<CancelState> cancel; // of the start itself, once it was allowed
    std::shared_ptr<ServerLink> link;
    std::shared_ptr<McpToolServer> server;
    std::exception_ptr error; // neither a server nor an error: the callers ask again
    Event done;
};

class ServerStarter {
  public:
    // `options`, `inputs`, `secrets` and `logins` outlive the starter.
    ServerStarter(async::Loop& loop, Clock& clock, gate::Gate& gate, const RegistryOptions& options,
                  ServerInputs& inputs, ServerSecrets& secrets, ServerLogins& logins);

    // The server as it is now: its files may have changed since it was configured.
    ServerDescription describe_now(const ServerSpec& spec) const;
    // Whether it is reached by a URL, and its configuration does not say who asks by a header or a password in the URL.
    static bool has_login(const ServerSpec& spec);
    // Who authorizes the requests to a server; nullptr if it has no login. Throws Error{config_invalid}, also while an
    // input or a secret has no value.
    std::shared_ptr<ServerAuthorizer> authorizer_of(const ServerSpec& spec) const;
    // Asks the gate. Then `described` is what it allowed. Throws Error{denied, config_invalid, tool_server_failed}.
    Task<void> require_approval(CallContext context, std::shared_ptr<ServerLaunch> launch);
    // Then: gets its inputs and its secrets, from the users where they have to give them. Throws as
    // ServerInputs::take() and ServerSecrets::take().
    Task<void> take_values(CallContext context, std::shared_ptr<ServerLaunch> launch);
    // Sets `link`, then `server`. Throws as ServerProcess::start() and McpToolServer::connect(); then its passwords are
    // asked for again by the next start.
    Task<void> start(std::shared_ptr<ServerLaunch> launch);

  private:
    // What a server that asks for roots is given; empty: none.
    std::string root_for(const ServerSpec& spec) const;
    std::shared_ptr<ServerAuthorizer> authorizer_of(const ServerSpec& spec, const GivenValues& given) const;
    Task<void> take_all(CallContext context, std::shared_ptr<ServerLaunch> launch);
    Task<void> start_allowed(std::shared_ptr<ServerLaunch> launch);
    Task<void> connect(std::shared_ptr<ServerLaunch> launch, HttpServerLink::Transport transport);

    async::Loop& loop_;
    Clock& clock_;
    gate::Gate& gate_;
    const RegistryOptions& options_;
    ServerInputs& inputs_;
    ServerSecrets& secrets_;
    ServerLogins& logins_;
};

} // namespace cellgate::tools
