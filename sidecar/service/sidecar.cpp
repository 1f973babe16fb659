#include "service/sidecar.hpp"

#include "base/json_codec.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "sidecar_impl.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace cellgate::service {

std::string canonical_workspace(const std::string& workspace) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::canonical(workspace, error);
    if (error || !std::filesystem::is_directory(path)) {
        throw Error(ErrorCode::config_invalid, fmt::format("expected the workspace to be a directory, found {}: {}",
                                                           workspace, error ? error.message() : "it is none"));
    }
    return path;
}

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

RunBlocking run_blocking(async::Loop& loop) {
    return [&loop](std::function<void()> work) { return loop.run_blocking(std::move(work)); };
}

gate::GateOptions gate_options(async::Loop& loop, const std::string& workspace, const store::Directories& directories,
                               gate::Elicitor* elicitor) {
    gate::GateOptions options;
    options.elicitor = elicitor;
    options.root = workspace;
    options.policy_directory = directories.config + "/policy";
    options.run_blocking = run_blocking(loop);
    return options;
}

} // namespace

Sidecar::Impl::Impl(async::Loop& loop_, SidecarOptions options_)
    : loop(loop_), clock(loop_.clock()), options(std::move(options_)),
      directories(private_directories(options.environment)), workspace(canonical_workspace(options.workspace)),
      journals(journal_directory(directories, workspace), run_blocking(loop)),
      crash_recovery(loop, {journal_directory(directories, workspace), directories.state + "/journals"}),
      gate(clock, gate_options(loop, workspace, directories, this)), network(egress::make_system_network(loop)),
      server_sandbox(loop, gate, *network, directories, workspace, options.environment),
      registry(loop, clock, gate,
               tools::RegistryOptions{workspace, options.environment, {"cellgate", CELLGATE_VERSION}, &server_sandbox}),
      installs(loop, gate, directories, workspace, options.environment),
      session_services{loop,        clock,    gate,      registry.dispatcher(), *network, *this,
                       directories, journals, workspace, options.environment},
      idle_tracker(clock) {
    if (options.outlives_clients) {
        ledger.emplace(journals.directory());
    }
    if (options.trace_file) {
        trace = std::make_shared<Trace>(clock, *options.trace_file);
    }
    if (options.sandbox_config) {
        settings = sandbox::read_settings(std::filesystem::absolute(*options.sandbox_config));
    }
    agent_limits = read_agent_limits(directories.config + "/agents.json");
    for (const protocol::RuleSpec& rule : options.rules) {
        registry.require_fitting(rule);
        gate.configure(rule, protocol::RuleSource::command_line);
    }
    add_trusted_servers({options.tool_servers.begin(), options.tool_servers.end()},
                        protocol::ToolServerSource::command_line);
    for (const std::string& problem : registry.read_workspace_files()) {
        log_warning("{}", problem);
    }
}

void Sidecar::Impl::add_trusted_servers(const std::map<std::string, protocol::McpServerConfig>& servers,
                                        protocol::ToolServerSource source) {
    std::vector<tools::ServerSpec> specs;
    for (const auto& [name, config] : servers) {
        specs.push_back(tools::ServerSpec{name, config, source, std::nullopt, std::nullopt});
    }
    registry.add(specs);
    for (const tools::ServerSpec& spec : specs) {
        forget_start_rule(spec.name);
        protocol::RuleSpec rule;
        rule.effect = protocol::Effect::allow;
        rule.kind = protocol::ActionKind::server;
        rule.server = spec.name;
        const auto rule_source = source == protocol::ToolServerSource::command_line ? protocol::RuleSource::command_line
                                                                                    : protocol::RuleSource::user;
        start_rules_[spec.name] = gate.configure(std::move(rule), rule_source, registry.info(spec.name).identity).id;
    }
}

void Sidecar::Impl::forget_start_rule(const std::string& server) {
    if (const auto entry = start_rules_.find(server); entry != start_rules_.end()) {
        gate.withdraw(entry->second);
        start_rules_.erase(entry);
    }
}

std::string Sidecar::Impl::resolve_path(const std::string& path) const {
    if (path.empty() || path.find('\0') != std::string::npos) {
        throw Error(ErrorCode::invalid_params, "expected a path, found an empty one or one with a NUL");
    }
    return (std::filesystem::path(workspace) / path).lexically_normal();
}

session::SessionOptions Sidecar::Impl::default_session() const {
    session::SessionOptions session_options;
    session_options.id = default_session_id;
    session_options.cwd = workspace;
    session_options.settings = settings;
    return session_options;
}

Task<std::shared_ptr<const sandbox::Settings>> Sidecar::Impl::read_settings(std::string file) {
    std::function<std::shared_ptr<const sandbox::Settings>()> work = [&file] { return sandbox::read_settings(file); };
    co_return co_await loop.run_blocking(std::move(work));
}

std::shared_ptr<Sidecar::Impl::Entry> Sidecar::Impl::add(session::SessionOptions session_options) {
    auto entry = std::make_shared<Entry>();
    const std::string id = session_options.id;
    entry->session = std::make_shared<session::Session>(session_services, std::move(session_options));
    sessions_[id] = entry;
    if (ledger) {
        ledger->session_opened(id);
    }
    entry->starting = starting_.spawn(start(entry));
    return entry;
}

// The id may belong to another one by now.
void Sidecar::Impl::forget(const std::shared_ptr<Entry>& entry) {
    const auto found = sessions_.find(entry->session->id());
    if (found != sessions_.end() && found->second == entry) {
        for (const auto& [id, client] : clients) {
            client->attached.erase(found->first);
        }
        if (ledger) {
            ledger->session_closed(found->first);
        }
        sessions_.erase(found);
    }
}

Task<void> Sidecar::Impl::start(std::shared_ptr<Entry> entry) {
    try {
        co_await entry->session->start();
    } catch (const Cancelled&) {
        entry->failure = std::make_exception_ptr(
            Error(ErrorCode::session_not_found,
                  fmt::format("the session \"{}\" was closed while it was starting", entry->session->id())));
    } catch (...) {
        entry->failure = std::current_exception();
    }
    if (entry->failure) {
        forget(entry);
        co_await shielded(entry->session->close("it did not start"));
    }
    entry->started.set();
}

Task<std::shared_ptr<session::Session>> Sidecar::Impl::started(std::shared_ptr<Entry> entry) {
    co_await entry->started.wait();
    if (entry->failure) {
        std::rethrow_exception(entry->failure);
    }
    co_return entry->session;
}

Task<std::shared_ptr<session::Session>> Sidecar::Impl::create(session::SessionOptions session_options) {
    if (sessions_.contains(session_options.id)) {
        throw Error(ErrorCode::session_exists,
                    fmt::format("expected a new session id, found \"{}\", which is taken", session_options.id));
    }
    std::shared_ptr<Entry> entry = add(std::move(session_options));
    co_return co_await started(std::move(entry));
}

Task<std::shared_ptr<session::Session>> Sidecar::Impl::find_or_start(std::optional<std::string> session_id) {
    const std::string id = session_id.value_or(std::string(default_session_id));
    const auto found = sessions_.find(id);
    if (found == sessions_.end() && id != default_session_id) {
        throw Error(ErrorCode::session_not_found, fmt::format("there is no session \"{}\"", id),
                    "session/create makes one; without a sessionId the default session is used");
    }
    std::shared_ptr<Entry> entry = found == sessions_.end() ? add(default_session()) : found->second;
    co_return co_await started(std::move(entry));
}

std::shared_ptr<session::Session> Sidecar::Impl::find(const std::string& session_id) const {
    const auto found = sessions_.find(session_id);
    if (found == sessions_.end()) {
        throw Error(ErrorCode::session_not_found, fmt::format("there is no session \"{}\"", session_id));
    }
    return found->second->session;
}

std::optional<Sidecar::Impl::Found> Sidecar::Impl::try_find_execution(const std::string& execution_id) const {
    for (const auto& [id, entry] : sessions_) {
        if (std::shared_ptr<session::Execution> execution = entry->session->find(execution_id)) {
            return Found{entry->session, std::move(execution)};
        }
    }
    return std::nullopt;
}

Sidecar::Impl::Found Sidecar::Impl::find_execution(const std::string& execution_id) const {
    std::optional<Found> found = try_find_execution(execution_id);
    if (!found) {
        throw Error(ErrorCode::execution_not_found, fmt::format("there is no execution \"{}\"", execution_id));
    }
    return std::move(*found);
}

void Sidecar::Impl::require_new_execution(const std::string& execution_id) const {
    if (try_find_execution(execution_id)) {
        throw Error(ErrorCode::execution_exists,
                    fmt::format("expected a new execution id, found \"{}\", which was used", execution_id));
    }
}

std::vector<std::shared_ptr<session::Session>> Sidecar::Impl::sessions() const {
    std::vector<std::shared_ptr<session::Session>> all;
    for (const auto& [id, entry] : sessions_) {
        all.push_back(entry->session);
    }
    return all;
}

Task<void> Sidecar::Impl::close_session(std::string session_id, std::string reason) {
    const auto found = sessions_.find(session_id);
    if (found == sessions_.end()) {
        throw Error(ErrorCode::session_not_found, fmt::format("there is no session \"{}\"", session_id));
    }
    const std::shared_ptr<Entry> entry = found->second;
    entry->starting->cancel();
    co_await entry->started.wait();
    co_await entry->session->close(std::move(reason));
    forget(entry);
}

void Sidecar::Impl::on_session_changed(const protocol::SessionChangedParams& changed) {
    for (const auto& [id, client] : clients) {
        if (client->role == protocol::Role::user && client->stage == Client::Stage::initialized) {
            client->peer.notify<protocol::SessionChanged>(changed);
        }
    }
}

void Sidecar::Impl::record(const session::Execution& execution) {
    if (execution.state == protocol::ExecutionState::queued) {
        idle_tracker.execution_began();
    } else if (execution.state == protocol::ExecutionState::finished) {
        idle_tracker.execution_ended();
    }
    if (!ledger) {
        return;
    }
    if (execution.state == protocol::ExecutionState::queued) {
        store::LedgerEntry entry;
        entry.execution_id = execution.id;
        entry.session_id = execution.session_id;
        if (execution.params.cell) {
            entry.cell = to_raw_json(*execution.params.cell);
        }
        ledger->queued(std::move(entry));
    } else if (execution.state == protocol::ExecutionState::running) {
        ledger->started(execution.id);
    } else {
        ledger->finished(execution.id, to_raw_json(execution.result));
    }
}

void Sidecar::Impl::on_execution_changed(const session::Execution& execution, std::optional<std::int64_t> position) {
    record(execution);
    protocol::ExecuteChangedParams changed;
    changed.execution_id = execution.id;
    changed.state = execution.state;
    changed.position = position;
    if (execution.agent) {
        changed.session_id = execution.session_id;
        changed.agent = execution.agent->name;
    }
    const std::int64_t records = execution.journal.next_seq();
    for (const auto& [id, client] : clients) {
        if (!client->follows(execution)) {
            continue;
        }
        if (client->outputs.first_unsent(execution.id, records) < records) {
            client->tasks.spawn(notify_finished(client, changed));
        } else {
            client->peer.notify<protocol::ExecuteChanged>(changed);
        }
    }
}

Task<void> Sidecar::Impl::notify_finished(std::shared_ptr<Client> client, protocol::ExecuteChangedParams changed) {
    std::string execution_id = changed.execution_id;
    co_await client->outputs.flushed(std::move(execution_id));
    client->peer.notify<protocol::ExecuteChanged>(changed);
}

void Sidecar::Impl::on_output(const session::Execution& execution, const protocol::OutputRecord& record) {
    for (const auto& [id, client] : clients) {
        if (client->follows(execution)) {
            client->outputs.send(execution, record);
        }
    }
}

Task<std::optional<std::string>> Sidecar::Impl::ask_input(session::ClientId client_id,
                                                          protocol::InputRequestParams params) {
    const auto found = clients.find(client_id);
    if (found == clients.end() || !found->second->capabilities.input.value_or(false)) {
        co_return std::nullopt;
    }
    const std::shared_ptr<Client> client = found->second;
    protocol::InputRequestResult result = co_await client->peer.call<protocol::InputRequest>(std::move(params));
    co_return std::optional(std::move(result.value));
}

bool Sidecar::Impl::can_elicit(const gate::Agent& agent) const {
    const auto found = clients.find(agent.client);
    return found != clients.end() && found->second->capabilities.elicitation.value_or(false);
}

Task<bool> Sidecar::Impl::elicit(gate::Agent agent, protocol::Approval approval) {
    const std::shared_ptr<Client> client = clients.at(agent.client);
    protocol::ApprovalElicitParams params{std::move(approval.execution_id), std::move(approval.display)};
    const protocol::ApprovalElicitResult result =
        co_await client->peer.call<protocol::ApprovalElicit>(std::move(params));
    co_return result.decision == protocol::Verdict::allow;
}

Task<void> Sidecar::Impl::close_sessions_of(session::ClientId agent) {
    for (const std::shared_ptr<session::Session>& session : sessions()) {
        if (session->belongs_to(agent)) {
            std::string reason = "its agent disconnected";
            std::string id = session->id();
            try {
                co_await close_session(std::move(id), std::move(reason));
            } catch (const Error& error) {
                log_info("a session of an agent that disconnected: {}", error.message); // closed by another client
            }
        }
    }
}

void Sidecar::Impl::warm_up() {
    if (std::exchange(warm_, true)) {
        return;
    }
    std::function<void()> work = [this] {
        try {
            sandbox::make_launcher(sandbox::Isolation::bwrap, options.environment)->check();
        } catch (const Error&) {
            // Reported at the start of a kernel.
        }
    };
    warming_.spawn(loop.run_blocking(std::move(work)));
}

Task<void> Sidecar::Impl::close() {
    co_await crash_recovery.close();
    co_await warming_.join();
    starting_.cancel();
    co_await starting_.join();
    for (const std::shared_ptr<session::Session>& session : sessions()) {
        co_await session->close("the sidecar ends");
    }
    sessions_.clear();
    co_await journals.close();
    co_await registry.close();
    co_await gate.close();
}

Sidecar::Sidecar(async::Loop& loop, SidecarOptions options) : impl_(std::make_unique<Impl>(loop, std::move(options))) {}

Sidecar::~Sidecar() = default;

Task<bool> Sidecar::serve(std::shared_ptr<protocol::Connection> connection, protocol::Role role) {
    const session::ClientId id = impl_->next_client++;
    if (impl_->trace) {
        connection = std::make_shared<TracedConnection>(std::move(connection), impl_->trace, id);
    }
    const auto client = std::make_shared<Client>(id, role, std::move(connection), run_blocking(impl_->loop));
    impl_->crash_recovery.scan();
    impl_->warm_up();
    add_lifecycle_handlers(*impl_, *client);
    add_session_handlers(*impl_, *client);
    add_kernel_handlers(*impl_, *client);
    add_execution_handlers(*impl_, *client);
    add_gate_handlers(*impl_, *client);
    add_tool_handlers(*impl_, *client);
    add_package_handlers(*impl_, *client);
    impl_->clients[id] = client;
    impl_->idle_tracker.client_connected();
    std::exception_ptr error;
    try {
        co_await client->peer.run();
    } catch (...) {
        error = std::current_exception();
    }
    impl_->clients.erase(id);
    impl_->idle_tracker.client_left(client->clean_exit ? Duration::zero() : client->linger);
    log_info("client {} ({}) {}", id, client->name,
             client->clean_exit ? "has disconnected" : "has lost its connection");
    if (client->answers_approvals()) {
        impl_->gate.detach(*client, impl_->idle_tracker.reconnect_remaining());
    }
    client->tasks.cancel();
    co_await shielded(client->tasks.join());
    co_await shielded(client->outputs.close());
    impl_->registry.on_agent_disconnected(id);
    co_await shielded(impl_->close_sessions_of(id));
    if (error) {
        std::rethrow_exception(error);
    }
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
