#pragma once
// `ServerStarter` starts a tool server: it asks the gate about exactly what starts, starts that, and connects to it.
// Which server starts when is for RunningServers to say.

#include "gate/gate.hpp"
#include "http_server_link.hpp"
#include "mcp_tool_server.hpp"
#include "server_logins.hpp"
#include "tools/call_context.hpp"
#include "tools/registry.hpp"

#include <memory>
#include <string>

namespace cellgate::tools {

// One start, shared by all callers that wait for it. What starts is what was shown, whatever is configured meanwhile.
struct ServerLaunch {
    ServerSpec spec;
    ServerDescription described;
    gate::OutcomeReport outcome;
    std::shared_ptr<CancelState> cancel; // of the start itself, once it was allowed
    std::shared_ptr<ServerLink> link;
    std::shared_ptr<McpToolServer> server;
    std::exception_ptr error; // neither a server nor an error: the callers ask again
    Event done;
};

class ServerStarter {
  public:
    // `options` and `logins` outlive the starter.
    ServerStarter(async::Loop& loop, Clock& clock, gate::Gate& gate, const RegistryOptions& options,
                  ServerLogins& logins);

    // The server as it is now: its files may have changed since it was configured.
    ServerDescription describe_now(const ServerSpec& spec) const;
    // Who authorizes the requests to a server at a URL; nullptr where its configuration does that by a header. Throws
    // Error{config_invalid}.
    std::shared_ptr<ServerAuthorizer> authorizer_of(const ServerSpec& spec) const;
    // Asks the gate. Then `described` is what it allowed. Throws Error{denied, config_invalid, tool_server_failed}.
    Task<void> require_approval(CallContext context, std::shared_ptr<ServerLaunch> launch);
    // Sets `link`, then `server`. Throws as ServerProcess::start() and McpToolServer::connect().
    Task<void> start(std::shared_ptr<ServerLaunch> launch);

  private:
    // What a server that asks for roots is given; empty: none.
    std::string root_for(const ServerSpec& spec) const;
    Task<void> start_allowed(std::shared_ptr<ServerLaunch> launch);
    Task<void> connect(std::shared_ptr<ServerLaunch> launch, HttpServerLink::Transport transport);

    async::Loop& loop_;
    Clock& clock_;
    gate::Gate& gate_;
    const RegistryOptions& options_;
    ServerLogins& logins_;
};

} // namespace cellgate::tools
