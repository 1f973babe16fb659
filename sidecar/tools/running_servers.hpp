#pragma once
// `RunningServers` is the tool servers of a catalogue as they run: each is started when it is first needed, once
// however many callers wait, and stopped when the catalogue gives it up. The registry owns it, and awaits close(). Who
// holds it can call tools past the gate, so nothing but the dispatcher gets it from the registry.

#include "server_catalog.hpp"
#include "server_starter.hpp"

#include <map>
#include <memory>
#include <string>

namespace cellgate::tools {

class RunningServers {
  public:
    RunningServers(ServerCatalog& catalog, const ServerStarter& starter);
    RunningServers(const RunningServers&) = delete;
    RunningServers& operator=(const RunningServers&) = delete;

    // `server` runs in this process: it is there from the beginning, and nothing starts it.
    void adopt(const ServerEntryPtr& entry, std::shared_ptr<ToolServer> server);

    // The server that the name means once it runs; it is started if necessary. Throws Error{tool_server_not_found,
    // tool_server_failed, denied}.
    Task<std::shared_ptr<ToolServer>> running(CallContext context, std::string name);
    // Those that it has, or had when it ran last; none if it never ran.
    std::vector<ToolPtr> known_tools(const ServerEntryPtr& entry);
    protocol::ToolServerInfo info(const ServerEntryPtr& entry);
    // Throws Error{invalid_params} for a server that has no login.
    static void require_login(const ServerEntryPtr& entry);
    // Who authorizes its requests. Throws as require_login(), and Error{config_invalid}.
    std::shared_ptr<ServerAuthorizer> require_authorizer(const ServerEntryPtr& entry) const;
    // What it wrote to stderr since it was last started, escaped.
    std::string log(const ServerEntryPtr& entry);
    // Completes once it has ended; the next use starts another one, unless the catalogue has given it up.
    Task<void> stop(const ServerEntryPtr& entry, std::string reason);
    // Stops a server that the catalogue has given up, in the background.
    void retire(const ServerEntryPtr& entry, std::string reason);
    // Stops every server.
    Task<void> close();

  private:
    // What is known of an entry beyond its configuration.
    struct Record {
        ServerEntryPtr entry;
        bool allowed = false;                 // once, as it is described
        std::string error;                    // of its last start or run
        bool wanted_login = false;            // which the error says
        std::shared_ptr<ToolServer> server;   // the last one, which may have ended
        std::shared_ptr<ServerLink> link;     // of the last start that is over
        std::shared_ptr<ServerLaunch> launch; // in progress
    };
    using RecordPtr = std::shared_ptr<Record>;

    // nullptr for a server that has no login.
    std::shared_ptr<ServerAuthorizer> find_authorizer(const ServerEntry& entry) const;
    RecordPtr record_of(const ServerEntryPtr& entry);
    // Nothing when the catalogue gave up the entry while its start was decided about.
    Task<std::shared_ptr<ServerLaunch>> begin(CallContext context, RecordPtr record);
    Task<void> run_launch(RecordPtr record, std::shared_ptr<ServerLaunch> launch);
    Task<void> watch(RecordPtr record, std::shared_ptr<McpToolServer> server);
    Task<void> stop_record(RecordPtr record, std::string reason);

    ServerCatalog& catalog_;
    ServerStarter starter_;
    std::map<ServerEntryPtr, RecordPtr> records_;
    bool closed_ = false;
    TaskScope tasks_;
};

} // namespace cellgate::tools
