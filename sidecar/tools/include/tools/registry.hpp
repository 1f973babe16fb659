#pragma once
// `Registry` is the tool servers by name, and their processes. A server starts when it is first needed, once however
// many callers wait for it, and a slow one delays no other. What came from a workspace's file starts only after the
// gate agreed to exactly that command. A server that died fails the calls it had, with the cause, and starts again on
// the next one; nothing is called twice. Owned by the service, who has to await close().

#include "async/loop.hpp"
#include "base/clock.hpp"
#include "base/known_secrets.hpp"
#include "mcp/implementation.hpp"
#include "protocol/messages/policy.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "protocol/tool_spec.hpp"
#include "store/secrets.hpp"
#include "tools/call_context.hpp"
#include "tools/config.hpp"
#include "tools/execution_rules.hpp"
#include "tools/server_sandbox.hpp"
#include "tools/tool_call_dispatcher.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cellgate::gate {
class Gate;
}

namespace cellgate::tools {

class Elicitor;
class SavedToolRunner;
class SavedTools;

struct RegistryOptions {
    std::string workspace;   // canonical
    Environment environment; // of this process
    mcp::Implementation ourselves;
    Elicitor* elicitor = nullptr;     // stays as long as the registry; without it what servers ask is declined
    ServerSandbox* sandbox = nullptr; // stays as long as the registry; without it no server that asks for it starts
    std::string logins_directory = {};
    // Each login that toolServers/login began has ended.
    std::function<void(const protocol::ToolServersLoginEndedParams& ended)> on_login_ended = {};
    store::Secrets* secrets = nullptr;     // stays as long as the registry; without it no server that names one starts
    KnownSecrets* known_secrets = nullptr; // gets the values that servers get; stays as long
    // A user gave a secret when a server needed it.
    std::function<void(const store::SecretEntry& secret)> on_secret_kept = {};
    // It is about to be given to a server that starts.
    std::function<void(const store::SecretEntry& secret, const std::string& server)> on_secret_used = {};
    std::string saved_tools_directory = {}; // of this workspace; empty: nothing can be saved
    SavedToolRunner* saved_tools = nullptr; // stays as long as the registry; the same without it
    RecordedRules recorded_rules = {};
    std::map<std::string, std::string> login_options = {}; // by server: with which options `cellgate login` finds it
};

class RunningServers;
class ServerCatalog;
class ServerInputs;
class ServerLogins;
class ServerSecrets;

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
    // Throws Error{config_invalid} if the settings of its sandbox cannot be read. Such a server is in the table, and
    // starts once they can.
    void require_startable(const std::string& server) const;
    // A server that an agent names. It starts only after the gate agreed to exactly that command, and it is there until
    // that is denied or taken back, a user or a file means another one by the name, or all agents that named it are
    // gone. Throws Error{config_invalid}, and Error{forbidden} for a name that means another server, by anybody else's
    // word.
    void add_from_agent(ServerSpec spec);
    void on_agent_disconnected(std::uint64_t client);
    // Makes the servers of the workspace's files those that the files name now; names that a user gave stay, those of
    // agents give way. Returns what is wrong with the files and was not at the last reading.
    std::vector<std::string> read_workspace_files();
    // Throw Error{tool_server_not_found}; remove() also Error{forbidden} for `host`.
    Task<void> remove(std::string server);
    Task<void> restart(CallContext context, std::string server);
    protocol::ToolServerInfo info(const std::string& server) const;
    std::vector<protocol::ToolServerInfo> list() const;
    // What it wrote to stderr since it was last started, escaped; empty for one that never was, and for `host`.
    // Throws Error{tool_server_not_found}.
    std::string log(const std::string& server) const;

    // The servers whose configurations name each secret, by its name.
    std::map<std::string, std::vector<std::string>> secret_users() const;

    // Looks for logins, logouts and saved tools of other processes, for info() and list().
    Task<void> refresh();
    // Begins a login of a user at the authorization server of a tool server, which has to be agreed to as for a start.
    // Throws Error{tool_server_not_found, denied, tool_server_failed}, and Error{invalid_params} for a server that has
    // no login.
    Task<protocol::ToolServersLoginResult> login(CallContext context, std::string server);
    // Gives up a login that waits. Throw Error{tool_server_not_found}.
    Task<void> cancel_login(std::string server);
    // Forgets the tokens of a server, and revokes them. It starts again on the next call.
    Task<void> logout(std::string server);

    // All tools of a server, which is started for it. Throws Error{tool_server_not_found, tool_server_failed, denied}.
    Task<std::vector<protocol::ToolSpec>> tools(CallContext context, std::string server);

    // Throws Error{rule_invalid} for a rule that no call of the server that it names can meet, because of an argument
    // that the tool does not have or a value that it never takes; as far as the server's tools are known.
    void require_fitting(const protocol::RuleSpec& rule) const;

    // The one way to call a tool; lives as long as the registry.
    ToolCallDispatcher& dispatcher() { return dispatcher_; }

    // Stops every server.
    Task<void> close();

  private:
    void read_workspace_files_for(const std::string& server);
    void on_login_ended(const protocol::ToolServersLoginEndedParams& ended);

    RegistryOptions options_;
    std::vector<std::string> file_problems_;
    std::unique_ptr<ServerCatalog> catalog_;
    std::unique_ptr<ServerInputs> inputs_;
    std::unique_ptr<ServerSecrets> secrets_;
    std::unique_ptr<ServerLogins> logins_;
    std::unique_ptr<RunningServers> servers_;
    std::shared_ptr<SavedTools> saved_;
    ToolCallDispatcher dispatcher_;
};

} // namespace cellgate::tools
