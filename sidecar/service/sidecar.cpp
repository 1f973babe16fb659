#include "service/sidecar.hpp"

#include "base/log.hpp"
#include "base/sync.hpp"
#include "client_hub.hpp"
#include "egress/network.hpp"
#include "handlers.hpp"
#include "policy_history.hpp"
#include "sandbox/launcher.hpp"
#include "saved_tool_runs.hpp"
#include "server_sandbox.hpp"
#include "server_tokens.hpp"
#include "session_events.hpp"
#include "store/directories.hpp"
#include "store/secrets.hpp"
#include "touch_confirmer.hpp"
#include "traced_connection.hpp"

#include <fmt/format.h>

#include <functional>

namespace cellgate::service {

namespace {

store::Directories private_directories(const std::map<std::string, std::string>& environment) {
    store::Directories directories = store::find_directories(environment);
    for (const std::string& path : {directories.state, directories.config, directories.runtime}) {
        store::make_private_directory(path);
    }
    return directories;
}

// For the journals of this workspace's sidecars.
std::string journal_directory(const store::Directories& directories, const std::string& workspace) {
    store::make_private_directory(directories.state + "/journals");
    const std::string of_workspace = fmt::format("{}/journals/{}", directories.state, store::key_of_root(workspace));
    store::make_private_directory(of_workspace);
    return of_workspace;
}

// Of what is kept encrypted: logins and secrets.
std::string logins_directory(const store::Directories& directories) {
    return directories.state + "/logins";
}

RunBlocking run_blocking(async::Loop& loop) {
    return [&loop](std::function<void()> work) { return loop.run_blocking(std::move(work)); };
}

changes::Options changes_options(const store::Directories& directories, const std::string& workspace) {
    changes::Options options;
    options.directory = store::changes_directory(directories, workspace);
    options.workspace = workspace;
    return options;
}

store::Secrets::Options secrets_options(const store::Directories& directories, const Workspace& workspace) {
    store::Secrets::Options options;
    options.directory = logins_directory(directories);
    options.workspace = store::key_of_root(workspace.path);
    options.environment = workspace.environment;
    options.from_environment = workspace.secrets;
    return options;
}

gate::GateOptions gate_options(async::Loop& loop, const std::string& workspace, const store::Directories& directories,
                               gate::Elicitor* elicitor, gate::Confirmer* confirmer, gate::RecordSink* record) {
    gate::GateOptions options;
    options.record = record;
    options.elicitor = elicitor;
    options.confirmer = confirmer;
    options.root = workspace;
    options.policy_directory = directories.config + "/policy";
    options.run_blocking = run_blocking(loop);
    return options;
}

} // namespace

struct Sidecar::Impl {
    Impl(async::Loop& loop, SidecarOptions options);

    void apply(const SidecarOptions& options);
    tools::RegistryOptions registry_options(const SidecarOptions& options);
    void add_handlers(Client& client);
    // Once, in the background: probes the sandbox, so that the first kernel does not have to wait for it, and prunes
    // the record.
    void warm_up();
    // After its connection ended.
    Task<void> let_go(std::shared_ptr<Client> client);
    // Of a rule, for a request that was allowed. Throws Error{denied} when there is none.
    Task<std::string> secret_for_session(std::string session_id, std::string name, std::string endpoint);
    Task<std::string> secret_for_request(std::string name, std::string endpoint);
    Task<void> close();

    async::Loop& loop;
    const bool outlives_clients;
    store::Directories directories;
    Workspace workspace;
    AgentSettings agents;
    store::Journals journals;
    std::unique_ptr<store::Ledger> ledger; // nullptr unless it outlives its clients
    CrashRecovery crash_recovery;
    ClientHub clients;
    KnownSecrets known_secrets;
    ActivityRecord activity;
    SecretRecord secret_record;
    SessionSecrets session_secrets;
    WorkspaceChanges changes;
    Stats stats;
    TouchConfirmer confirmer;
    gate::Gate gate;
    PolicyHistory history{loop.clock(), gate, activity};
    ResultReview review;
    Elicitations elicitations;
    std::unique_ptr<egress::Network> network;
    ServerSandbox server_sandbox;
    store::Secrets secrets;
    ServerTokens server_tokens;
    SavedToolRuns saved_tools;
    tools::Registry registry;
    packages::Installs installs;
    images::Images images{loop, directories, workspace.environment};
    TrustedServers trusted_servers;
    IdleTracker idle_tracker{loop.clock()};
    session::ExecutionTurns turns; // of agents
    SessionEvents events;
    session::SessionServices session_services;
    session::SpareKernels spares;
    SessionTable sessions;
    Profiles profiles;
    checks::CodeChecks code_checks;
    SessionChecks session_checks;
    SidecarServices services;
    std::shared_ptr<Trace> trace;
    bool warm = false;
    TaskScope warming;
};

Sidecar::Impl::Impl(async::Loop& loop_, SidecarOptions options)
    : loop(loop_), outlives_clients(options.outlives_clients), directories(private_directories(options.environment)),
      workspace(open_workspace(options)),
      agents(read_agent_settings(directories.config + "/agents.json", options.environment)),
      journals(journal_directory(directories, workspace.path), run_blocking(loop)),
      ledger(outlives_clients ? std::make_unique<store::Ledger>(journals.directory()) : nullptr),
      crash_recovery(loop, {journal_directory(directories, workspace.path), directories.state + "/journals"}),
      activity(loop.clock(), run_blocking(loop), store::record_directory(directories, workspace.path),
               read_record_settings(directories.config + "/record.json"), &known_secrets),
      secret_record(loop.clock(), activity), session_secrets(loop.clock()),
      changes(
          loop.clock(), run_blocking(loop), changes_options(directories, workspace.path), activity,
          [this](const protocol::ChangesFoundParams& found) { clients.notify_users<protocol::ChangesFound>(found); }),
      stats(loop.clock(), activity), confirmer(loop, directories.runtime, workspace.path, workspace.environment),
      gate(loop.clock(), gate_options(loop, workspace.path, directories, &clients, &confirmer, &stats)),
      review(gate, run_blocking(loop), clients), elicitations(loop.clock(), gate),
      network(egress::make_system_network(loop)),
      server_sandbox(loop, gate, *network, directories, workspace.path, workspace.environment,
                     std::bind_front(&Impl::secret_for_request, this)),
      secrets(loop, loop.clock(), secrets_options(directories, workspace)),
      server_tokens(secrets, known_secrets, secret_record, elicitations),
      saved_tools(loop, workspace, agents.limits, sessions, review),
      registry(loop, loop.clock(), gate, registry_options(options)),
      installs(loop, gate, directories, workspace.path, workspace.environment), trusted_servers(registry, gate),
      turns(agents.executions),
      events(clients, idle_tracker, ledger.get(), activity, changes, stats, review, session_secrets),
      session_services{loop,        loop.clock(), gate,  registry.dispatcher(), *network,       events,
                       directories, journals,     turns, known_secrets,         workspace.path, workspace.environment},
      spares(session_services, [this] { return sessions.is_busy(); }), sessions(session_services, workspace, events),
      profiles(directories.config + "/profiles.json"),
      code_checks(loop, directories, workspace.path, workspace.environment),
      session_checks(code_checks, sessions, profiles),
      services{loop,           workspace,     agents,        outlives_clients, sessions,      journals,
               crash_recovery, idle_tracker,  gate,          elicitations,     registry,      trusted_servers,
               installs,       images,        activity,      changes,          stats,         review,
               secrets,        known_secrets, secret_record, session_secrets,  server_tokens, profiles,
               session_checks, spares} {
    workspace.profile = profiles.default_profile();
    session_services.spares = &spares;
    session_services.request_secret = std::bind_front(&Impl::secret_for_session, this);
    session_services.server_token = std::bind_front(&ServerTokens::take, &server_tokens);
    apply(options);
}

void Sidecar::Impl::apply(const SidecarOptions& options) {
    if (options.trace_file) {
        trace = std::make_shared<Trace>(loop.clock(), *options.trace_file,
                                        std::bind_front(&Elicitations::is_secret, &elicitations));
    }
    for (const protocol::RuleSpec& rule : options.rules) {
        registry.require_fitting(rule);
        gate.configure(rule, protocol::RuleSource::command_line);
    }
    trusted_servers.add(options.tool_servers, protocol::ToolServerSource::command_line);
    for (const std::string& problem : registry.read_workspace_files()) {
        log_warning("{}", problem);
    }
}

tools::RegistryOptions Sidecar::Impl::registry_options(const SidecarOptions& options) {
    return tools::RegistryOptions{
        workspace.path,
        workspace.environment,
        {"cellgate", CELLGATE_VERSION},
        &elicitations,
        &server_sandbox,
        logins_directory(directories),
        [this](const protocol::ToolServersLoginEndedParams& ended) {
            activity.login_ended(ended);
            clients.notify_users<protocol::ToolServersLoginEnded>(ended);
        },
        &secrets,
        &known_secrets,
        [this](const store::SecretEntry& secret) { secret_record.set(secret); },
        [this](const store::SecretEntry& secret, const std::string& server) { secret_record.used(secret, server); },
        store::saved_tools_directory(directories, workspace.path),
        &saved_tools,
        std::bind_front(&PolicyHistory::rules_of, &history),
        options.login_options};
}

void Sidecar::Impl::add_handlers(Client& client) {
    add_lifecycle_handlers(services, client);
    add_session_handlers(services, client);
    add_kernel_handlers(services, client);
    add_check_handlers(services, client);
    add_execution_handlers(services, client);
    add_gate_handlers(services, client);
    add_tool_handlers(services, client);
    add_package_handlers(services, client);
    add_record_handlers(services, client);
    add_change_handlers(services, client);
    add_stats_handlers(services, client);
    add_secret_handlers(services, client);
}

void Sidecar::Impl::warm_up() {
    if (std::exchange(warm, true)) {
        return;
    }
    std::function<void()> work = [this] {
        try {
            sandbox::make_launcher(sandbox::default_isolation, workspace.environment)->check();
        } catch (const Error&) {
            // Reported at the start of a kernel.
        }
    };
    warming.spawn(loop.run_blocking(std::move(work)));
    warming.spawn(activity.prune());
}

Task<std::string> Sidecar::Impl::secret_for_request(std::string name, std::string endpoint) {
    const std::optional<store::Secrets::Found> found = co_await secrets.find(name);
    if (!found) {
        throw Error(ErrorCode::denied, fmt::format("a rule puts the secret {} into this request, and there is none of "
                                                   "that name: `cellgate secret add {}`",
                                                   name, name));
    }
    known_secrets.add(name, found->value);
    secret_record.put_into_request(SecretRecord::key_of(found->entry), endpoint);
    co_return found->value;
}

// The session's own, which no tool server gets; else the workspace's or the user's.
Task<std::string> Sidecar::Impl::secret_for_session(std::string session_id, std::string name, std::string endpoint) {
    std::optional<std::string> value = session_secrets.find(session_id, name);
    if (!value) {
        co_return co_await secret_for_request(std::move(name), std::move(endpoint));
    }
    secret_record.put_into_request({std::move(name), "session", std::move(session_id)}, endpoint);
    co_return std::move(*value);
}

Task<void> Sidecar::Impl::let_go(std::shared_ptr<Client> client) {
    clients.remove(client->id);
    idle_tracker.client_left(client->clean_exit ? Duration::zero() : client->linger);
    log_info("client {} ({}) {}", client->id, client->name,
             client->clean_exit ? "has disconnected" : "has lost its connection");
    if (client->answers_approvals()) {
        gate.detach(*client, idle_tracker.reconnect_remaining());
    }
    elicitations.detach(*client, idle_tracker.reconnect_remaining());
    client->tasks.cancel();
    co_await client->tasks.join();
    co_await client->outputs.close();
    registry.on_agent_disconnected(client->id);
    co_await sessions.close_sessions_of(client->id);
}

Task<void> Sidecar::Impl::close() {
    co_await crash_recovery.close();
    co_await warming.join();
    co_await sessions.close_all();
    co_await spares.close();
    co_await changes.close();
    co_await journals.close();
    co_await elicitations.close();
    co_await secrets.close();
    co_await registry.close();
    co_await gate.close();
    co_await activity.close();
}

Sidecar::Sidecar(async::Loop& loop, SidecarOptions options) : impl_(std::make_unique<Impl>(loop, std::move(options))) {}

Sidecar::~Sidecar() = default;

Task<bool> Sidecar::serve(std::shared_ptr<protocol::Connection> connection, protocol::Role role) {
    const session::ClientId id = impl_->clients.new_id();
    if (impl_->trace) {
        connection = std::make_shared<TracedConnection>(std::move(connection), impl_->trace, id);
    }
    const auto client = std::make_shared<Client>(id, role, std::move(connection), run_blocking(impl_->loop));
    client->stats = &impl_->stats;
    impl_->crash_recovery.scan();
    impl_->warm_up();
    impl_->add_handlers(*client);
    impl_->clients.add(client);
    impl_->idle_tracker.client_connected();
    co_await finally(client->peer.run(), impl_->let_go(client));
    co_return client->stage == Client::Stage::shut_down;
}

bool Sidecar::needed() const {
    return impl_->idle_tracker.needed();
}

Task<void> Sidecar::wait_idle() {
    return impl_->idle_tracker.wait_idle();
}

void Sidecar::expect_client(Duration within) {
    impl_->idle_tracker.expect_reconnect(within);
}

void Sidecar::drain() {
    impl_->idle_tracker.drain();
}

Task<void> Sidecar::close() {
    return impl_->close();
}

} // namespace cellgate::service
