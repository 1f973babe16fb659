#pragma once
// `ServerInstance` is a running tool server and what it offers; `ServerLaunch` is one start of it; `Server` is what the
// registry knows by a name, whether it runs or not. Private to the registry.

#include "async/process.hpp"
#include "tools/registry.hpp"

#include <exception>

namespace cellgate::tools {

inline constexpr Duration max_start_time = std::chrono::seconds(30); // and of a list of tools

// A server's process and what it offers.
struct Registry::ServerInstance {
    std::string name;
    std::string identity;
    std::shared_ptr<SandboxedStart> sandbox;
    std::vector<std::string> layers;
    std::vector<std::string> sandbox_notices;
    std::shared_ptr<async::Process> process;
    std::shared_ptr<mcp::Client> client;
    std::vector<std::shared_ptr<const Tool>> tools;
    bool stale = false; // the server said that its tools are others now
    std::shared_ptr<Event> refreshing;
    std::string stopped_because; // by us
    std::string cause;           // of its end
    Event ended;

    void take(const mcp::ToolList& list);
    std::vector<protocol::ToolInfo> tool_infos() const;
    std::shared_ptr<const Tool> find(const std::string& tool) const;
};

// One start, shared by all who wait for it. What is started is what was shown, whatever is configured meanwhile.
struct Registry::ServerLaunch {
    ServerSpec spec;
    ServerDescription described;
    std::shared_ptr<CancelState> cancel; // of the start itself, once it was allowed
    std::shared_ptr<async::Process> process;
    std::shared_ptr<ServerInstance> running;
    std::exception_ptr error;
    Event done;
};

struct Registry::Server {
    ServerSpec spec;
    std::vector<gate::Agent> co_owners; // other agents that named exactly this one, in turn
    ServerDescription described;
    bool allowed = false; // once, as it is described
    bool removed = false;
    std::string error;
    std::optional<std::vector<protocol::ToolInfo>> tools; // of the last time that it ran
    std::shared_ptr<async::Process> last_process;         // of the last start that is over; it may run
    std::shared_ptr<ServerInstance> running;
    std::shared_ptr<ServerLaunch> starting;
};

protocol::ToolInfo info_of_tool(const protocol::ToolSpec& spec);

// The hash of a tool's definition.
std::string identity_of(const protocol::ToolSpec& spec);

// The identity of the built-in server.
const std::string& host_identity();

// Throws Error{tool_server_not_found} for a server that the session may not use.
void require_allowed(const CallContext& context, const std::string& server);

} // namespace cellgate::tools
