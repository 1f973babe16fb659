#pragma once
// `Sidecar::Impl` is the state that the handlers of all method families share. Private to the service.

#include "agent_limits.hpp"
#include "async/loop.hpp"
#include "client.hpp"
#include "crash_recovery.hpp"
#include "gate/gate.hpp"
#include "idle_tracker.hpp"
#include "packages/installs.hpp"
#include "server_sandbox.hpp"
#include "service/sidecar.hpp"
#include "session/session.hpp"
#include "store/directories.hpp"
#include "store/journals.hpp"
#include "store/ledger.hpp"
#include "tools/registry.hpp"
#include "traced_connection.hpp"

#include <map>
#include <memory>

namespace cellgate::service {

inline constexpr std::string_view default_session_id = "default";

struct Sidecar::Impl final : public session::SessionObserver, public gate::Elicitor {
    Impl(async::Loop& loop, SidecarOptions options);
    ~Impl() override = default;

    // The session of that id, or the workspace's default one, which is started if need be. Throws
    // Error{session_not_found}, and what starting throws.
    Task<std::shared_ptr<session::Session>> find_or_start(std::optional<std::string> session_id);
    // Throws Error{session_exists}, and what starting throws.
    Task<std::shared_ptr<session::Session>> create(session::SessionOptions options);
    // Throws Error{session_not_found}.
    std::shared_ptr<session::Session> find(const std::string& session_id) const;
    using Found = std::pair<std::shared_ptr<session::Session>, std::shared_ptr<session::Execution>>;
    // Throws Error{execution_not_found}.
    Found find_execution(const std::string& execution_id) const;
    std::optional<Found> try_find_execution(const std::string& execution_id) const;
    // Throws Error{execution_exists} if any session has it.
    void require_new_execution(const std::string& execution_id) const;
    // Also one that is starting. Throws Error{session_not_found}.
    Task<void> close_session(std::string session_id, std::string reason);
    std::vector<std::shared_ptr<session::Session>> sessions() const;
    // Probes the sandbox once, in the background, so that the first kernel does not have to wait for it.
    void warm_up();
    Task<void> close();

    session::SessionOptions default_session() const;
    // Off the loop. Throws Error{config_invalid}.
    Task<std::shared_ptr<const sandbox::Settings>> read_settings(std::string file);
    // Tool servers from a user: their start needs no approval. Throws Error{config_invalid}; then none was added. A
    // server of the same name is replaced.
    void add_trusted_servers(const std::map<std::string, protocol::McpServerConfig>& servers,
                             protocol::ToolServerSource source);
    // Withdraws the start permission of a server that a user added before.
    void forget_start_rule(const std::string& server);
    // Absolute; a relative path is relative to the workspace.
    std::string resolve_path(const std::string& path) const;

    void on_session_changed(const protocol::SessionChangedParams& changed) override;
    void on_execution_changed(const session::Execution& execution, std::optional<std::int64_t> position) override;
    void on_output(const session::Execution& execution, const protocol::OutputRecord& record) override;
    bool can_elicit(const gate::Agent& agent) const override;
    Task<bool> elicit(gate::Agent agent, protocol::Approval approval) override;
    // Only the agent could use them.
    Task<void> close_sessions_of(session::ClientId agent);
    Task<std::optional<std::string>> ask_input(session::ClientId client, protocol::InputRequestParams params) override;

    async::Loop& loop;
    Clock& clock;
    SidecarOptions options;
    store::Directories directories;
    std::string workspace;
    store::Journals journals;
    std::optional<store::Ledger> ledger;
    CrashRecovery crash_recovery;
    gate::Gate gate;
    std::unique_ptr<egress::Network> network;
    ServerSandbox server_sandbox;
    tools::Registry registry;
    packages::Installs installs;
    session::SessionServices session_services;
    std::shared_ptr<Trace> trace;
    IdleTracker idle_tracker;

    std::shared_ptr<const sandbox::Settings> settings; // for sessions that name none
    AgentLimits agent_limits;

    std::map<session::ClientId, std::shared_ptr<Client>> clients;
    session::ClientId next_client = 1;

  private:
    // Into the idle tracker, and into the ledger for recovery after a crash.
    void record(const session::Execution& execution);
    // After all output of the execution was sent to the client.
    static Task<void> notify_finished(std::shared_ptr<Client> client, protocol::ExecuteChangedParams changed);

    // A session is in the map while it starts, so that concurrent requests start it once.
    struct Entry {
        std::shared_ptr<session::Session> session;
        std::shared_ptr<CancelState> starting;
        Event started; // or failed
        std::exception_ptr failure;
    };

    Task<void> start(std::shared_ptr<Entry> entry);
    Task<std::shared_ptr<session::Session>> started(std::shared_ptr<Entry> entry);
    std::shared_ptr<Entry> add(session::SessionOptions session_options);
    void forget(const std::shared_ptr<Entry>& entry);

    std::map<std::string, std::shared_ptr<Entry>> sessions_;
    std::map<std::string, std::string> start_rules_; // of servers from a user
    TaskScope starting_;
    bool warm_ = false;
    TaskScope warming_;
};

// Each registers one family of methods.
void add_lifecycle_handlers(Sidecar::Impl& sidecar, Client& client);
void add_session_handlers(Sidecar::Impl& sidecar, Client& client);
void add_kernel_handlers(Sidecar::Impl& sidecar, Client& client);
void add_execution_handlers(Sidecar::Impl& sidecar, Client& client);
void add_gate_handlers(Sidecar::Impl& sidecar, Client& client);
void add_tool_handlers(Sidecar::Impl& sidecar, Client& client);
void add_package_handlers(Sidecar::Impl& sidecar, Client& client);

} // namespace cellgate::service
