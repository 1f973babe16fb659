#pragma once
// `Registry` is the tool servers by name, and their processes. A server starts when it is first needed, once however
// many callers wait for it, and a slow one delays no other. What came from a workspace's file starts only after the
// gate agreed to exactly that command. A server that died fails the calls it had, with the cause, and starts again on
// the next one; nothing is called twice. Owned by the service, who has to await close().

#include "async/loop.hpp"
#include "base/clock.hpp"
#include "mcp/client.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "protocol/tool_spec.hpp"
#include "tools/call_context.hpp"
#include "tools/config.hpp"
#include "tools/host.hpp"
#include "tools/server_sandbox.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::gate {
class Gate;
}

namespace cellgate::tools {

struct RegistryOptions {
    std::string workspace;   // canonical
    Environment environment; // of this process
    mcp::Implementation ourselves;
    ServerSandbox* sandbox = nullptr; // stays as long as the registry; without it no server that asks for it starts
};

class Registry {
  public:
    Registry(async::Loop& loop, Clock& clock, gate::Gate& gate, RegistryOptions options);
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;
    ~Registry();

    // Servers that a user gave. One of the same name that was configured otherwise is stopped, and one of a
    // workspace's file gives way. Throws Error{config_invalid}, also for two whose wrappers would be one package; then
    // none was added.
    void add(const std::vector<ServerSpec>& specs);
    // A server that an agent names. It starts only after the gate agreed to exactly that command, and it is there until
    // that is denied or taken back, a user or a file means another one by the name, or all agents that named it are
    // gone. Throws Error{config_invalid}, and Error{forbidden} for a name that means another server, by anybody else's
    // word.
    void add_from_agent(ServerSpec spec);
    void on_agent_disconnected(std::uint64_t client);
    // Makes the servers of the workspace's files those that the files name now; names that a user gave stay, those of
    // agents give way. Returns what is wrong with the files.
    std::vector<std::string> read_workspace_files();
    // Throw Error{tool_server_not_found}; remove() also Error{forbidden} for `host`.
    Task<void> remove(std::string server);
    Task<void> restart(CallContext context, std::string server);
    protocol::ToolServerInfo info(const std::string& server) const;
    std::vector<protocol::ToolServerInfo> list() const;
    // What it wrote to stderr since it was last started, escaped; empty for one that never was, and for `host`.
    // Throws Error{tool_server_not_found}.
    std::string log(const std::string& server) const;

    // All tools of a server, which is started for it. Throws Error{tool_server_not_found, tool_server_failed, denied}.
    Task<std::vector<protocol::ToolSpec>> tools(CallContext context, std::string server);

    // Stops every server.
    Task<void> close();

  private:
    friend class ToolCallDispatcher; // the only caller of call()

    struct Tool {
        protocol::ToolSpec spec;
        std::string identity;        // of its definition
        std::string server_identity; // of the server that offered it
    };
    struct ServerInstance;
    struct ServerLaunch;
    struct Server;

    HostTools& host() { return host_; }
    // Throws as tools() does, and Error{tool_not_found}.
    Task<std::shared_ptr<const Tool>> find_tool(CallContext context, std::string server, std::string tool);
    // Nothing when the server's tool is not (or no longer) exactly `tool`: it has to be decided about again.
    Task<std::optional<protocol::CallToolResult>> call(CallContext context, std::shared_ptr<const Tool> tool,
                                                       std::string server, RawJson arguments);

    std::shared_ptr<Server> find(const std::string& name) const;
    // The name of another server whose wrappers would be the same package; `only_given`: of those that a user gave.
    std::optional<std::string> same_package(const std::string& name, bool only_given) const;
    void insert(ServerSpec spec, ServerDescription described);
    void erase(const std::string& name, std::string reason);
    void insert_from_file(const ServerSpec& spec);
    Task<std::shared_ptr<ServerInstance>> running(CallContext context, std::string server);
    Task<void> allow_start(CallContext context, std::shared_ptr<ServerLaunch> start);
    Task<void> start(std::shared_ptr<Server> server, std::shared_ptr<ServerLaunch> start);
    Task<std::shared_ptr<ServerInstance>> launch(std::shared_ptr<ServerLaunch> start);
    Task<void> spawn(std::shared_ptr<ServerLaunch> start, std::shared_ptr<ServerInstance> running,
                     async::Command command);
    Task<void> connect(std::shared_ptr<ServerInstance> running, Instant deadline);
    Task<void> fail_start(std::shared_ptr<ServerInstance> running, std::vector<std::string> argv,
                          std::exception_ptr error);
    Task<void> prepare_sandbox(std::shared_ptr<ServerLaunch> start, std::shared_ptr<ServerInstance> running,
                               async::Command* command);
    // Its process has ended, or was never started.
    Task<async::ExitStatus> end(std::shared_ptr<ServerInstance> running);
    // What to do about a server that did not start in the sandbox.
    Task<std::string> sandbox_hint(std::shared_ptr<ServerInstance> running, std::vector<std::string> argv);
    Task<void> watch(std::shared_ptr<Server> server, std::shared_ptr<ServerInstance> running);
    Task<void> refresh(std::shared_ptr<ServerInstance> running);
    Task<void> stop(std::shared_ptr<Server> server, std::string reason);
    protocol::ToolServerInfo info_of(const Server& server) const;

    async::Loop& loop_;
    Clock& clock_;
    gate::Gate& gate_;
    RegistryOptions options_;
    HostTools host_;
    std::map<std::string, std::shared_ptr<const Tool>> host_tools_;
    std::map<std::string, std::shared_ptr<Server>> servers_;
    bool closed_ = false;
    TaskScope tasks_;
};

} // namespace cellgate::tools
