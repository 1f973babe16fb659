// session/*, limits/set.

#include "base/enum_name.hpp"
#include "base/names.hpp"
#include "handlers.hpp"
#include "jupyter/server_api.hpp"
#include "progress.hpp"
#include "sandbox/home.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::service {

namespace {

constexpr std::string_view agent_prefix = "agent-";

constexpr std::size_t max_added_paths = 100;

// The protocol names launchers as this program does.
sandbox::Isolation isolation_of(protocol::SandboxLauncher launcher) {
    return sandbox::find_isolation(enum_name(launcher)).value();
}

void add_paths(std::vector<std::string>& paths, const std::optional<std::vector<std::string>>& more, const char* name) {
    for (const std::string& path : more.value_or(std::vector<std::string>{})) {
        if (std::find(paths.begin(), paths.end(), path) == paths.end()) {
            paths.push_back(path);
        }
    }
    if (paths.size() > max_added_paths) { // with those that were added before
        throw Error(ErrorCode::invalid_params, fmt::format("params.sandbox.{}: expected at most {} paths, found {}",
                                                           name, max_added_paths, paths.size()));
    }
}

void add(sandbox::Additions& additions, const protocol::SandboxAdditions& more) {
    add_paths(additions.allow_read, more.allow_read, "allowRead");
    add_paths(additions.allow_write, more.allow_write, "allowWrite");
    additions.gpu = more.gpu.value_or(additions.gpu);
}

// Off the loop. Throws Error{config_invalid}.
Task<std::shared_ptr<const sandbox::Settings>> read_settings(async::Loop& loop, std::string file) {
    std::function<std::shared_ptr<const sandbox::Settings>()> work = [&file] { return sandbox::read_settings(file); };
    co_return co_await loop.run_blocking(std::move(work));
}

struct Sessions {
    SidecarServices& sidecar;
    Client& client;

    std::string new_id() const {
        return client.role == protocol::Role::user ? random_id() : std::string(agent_prefix) + random_id();
    }

    // A user who finds the id of a session must not find an agent's kernel behind it.
    void require_agent_prefix(const std::string& id) const {
        if (client.role == protocol::Role::user) {
            return;
        }
        if (!id.starts_with(agent_prefix)) {
            client.refuse(
                fmt::format("the id of an agent's session begins with \"{}\", found \"{}\"", agent_prefix, id));
        }
    }

    Task<protocol::SessionInfo> create(protocol::SessionCreateParams params) {
        session::SessionOptions options = sidecar.workspace.default_session();
        options.id = params.session_id.value_or(new_id());
        require_agent_prefix(options.id);
        options.language = params.language;
        if (params.kernel) {
            options.kernel = *params.kernel;
        }
        if (params.cwd) {
            options.cwd = sidecar.workspace.resolve(*params.cwd);
        }
        options.restore_cwd = params.restore_cwd.value_or(false);
        options.environment = params.env.value_or(std::map<std::string, std::string>{});
        options.tool_servers = params.tool_servers;
        options.agent = client.agent;
        if (options.kernel.server) {
            options.kernel.server->url = jupyter::server_url(options.kernel.server->url);
        }
        const AgentLimits* of_agent = limits_of_agent(sidecar, client);
        if (of_agent && of_agent->sandbox_settings) {
            options.settings = of_agent->sandbox_settings;
        }
        const bool elsewhere = options.kernel.connection_file || options.kernel.server;
        if (elsewhere && params.sandbox && params.sandbox->isolated) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("a sandbox was asked for of a kernel {}",
                                    options.kernel.server ? "on a Jupyter server" : "that already runs"),
                        "Leave out `sandbox`, or have cellgate start the kernel.");
        }
        if (elsewhere || (params.sandbox && !params.sandbox->isolated)) {
            options.isolation = sandbox::Isolation::none;
            options.settings = nullptr;
        } else if (params.sandbox) {
            if (params.sandbox->launcher) {
                options.isolation = isolation_of(*params.sandbox->launcher);
            }
            add(options.additions, params.sandbox->additions);
        }
        Progress progress(client.peer, params.work_done_token, "Starting the kernel");
        if (params.sandbox && params.sandbox->image) {
            options.image = co_await open_image(*params.sandbox->image, options.isolation, &progress);
        }
        if (params.sandbox && params.sandbox->config_file) {
            std::string file = sidecar.workspace.resolve(
                sandbox::without_tilde(*params.sandbox->config_file, sidecar.workspace.environment));
            options.settings = co_await read_settings(sidecar.loop, std::move(file));
        }
        options.limits = params.limits.value_or(protocol::Limits{});
        choose_profile(options, params.profile);
        if (of_agent) {
            options.limits = of_agent->limits_of(options.limits);
        }
        const std::shared_ptr<session::Session> session = co_await sidecar.sessions.create(std::move(options));
        co_return session->info();
    }

    Task<std::shared_ptr<const sandbox::Image>> open_image(std::string name, sandbox::Isolation isolation,
                                                           Progress* progress) const {
        const sandbox::IsolationTraits& traits = sandbox::traits_of(isolation);
        if (!traits.mounts) {
            throw Error(ErrorCode::config_invalid,
                        fmt::format("an image was asked for, and the {} launcher mounts nothing", traits.name),
                        "Use the default sandbox, or gvisor.");
        }
        images::Report report = [progress](const std::string& text) { progress->report(text); };
        co_return co_await sidecar.images.open(std::move(name), std::move(report));
    }

    // Where a user set one for all sessions, an agent cannot choose another.
    void choose_profile(session::SessionOptions& options, const std::optional<std::string>& name) const {
        const std::optional<protocol::Profile>& usual = sidecar.workspace.profile;
        if (usual && (!name || *name == usual->name)) {
            use_profile(options, *usual);
        } else if (name) {
            const protocol::Profile& profile = sidecar.profiles.find(*name);
            if (client.role != protocol::Role::user && usual) {
                client.refuse(fmt::format("a user has set the profile {} for all sessions", usual->name));
            }
            if (client.role != protocol::Role::user && !profile.domains.empty()) {
                client.refuse(fmt::format("the profile {} opens hosts: a user can choose it", profile.name));
            }
            use_profile(options, profile);
        }
    }

    Task<protocol::SessionListResult> list(Empty) {
        protocol::SessionListResult result;
        for (const std::shared_ptr<session::Session>& session : sidecar.sessions.all()) {
            protocol::SessionInfo& info = result.sessions.emplace_back(session->info());
            if (client.agent && sidecar.review.hides(info.session_id, std::nullopt)) {
                info.execution_count = 0; // code can choose it
            }
        }
        std::sort(result.sessions.begin(), result.sessions.end(),
                  [](const auto& a, const auto& b) { return a.created_at < b.created_at; });
        co_return result;
    }

    // In one turn of the loop with its answer: no record can come in between.
    Task<protocol::SessionAttachResult> attach(protocol::SessionParams params) {
        const std::shared_ptr<session::Session> session = sidecar.sessions.find_shown(params.session_id);
        client.attached.insert(params.session_id);
        protocol::SessionAttachResult result;
        result.session = session->info();
        for (const std::shared_ptr<session::Execution>& execution : session->executions()) {
            result.executions.push_back({execution->id, execution->state, session->position(*execution),
                                         execution->waits_behind(),
                                         client.outputs.first_unsent(execution->id, execution->journal.next_seq()),
                                         execution->params.cell, gate::name_of(execution->agent)});
        }
        co_return result;
    }

    Task<protocol::SessionInfo> restart(protocol::SessionRestartParams params) {
        if (client.role != protocol::Role::user && !sidecar.sessions.find(params.session_id)->belongs_to(client.id)) {
            client.refuse("an agent can restart only a session that it created");
        }
        Progress progress(client.peer, params.work_done_token, "Restarting the kernel");
        std::optional<std::string> id = std::move(params.session_id);
        const std::shared_ptr<session::Session> session = co_await sidecar.sessions.find_or_start(std::move(id));
        const session::SessionOptions& options = session->options();
        session::SandboxChange change{options.settings, options.additions, options.image};
        if (change.settings && client.role == protocol::Role::user) {
            std::string file = change.settings->file;
            change.settings = co_await read_settings(sidecar.loop, std::move(file));
        }
        if (change.image && client.role == protocol::Role::user) {
            change.image = co_await open_image(change.image->name, options.isolation, &progress);
        }
        if (params.sandbox) {
            if (!sandbox::traits_of(session->options().isolation).isolates) {
                throw Error(ErrorCode::config_invalid, "the session has no sandbox that could be added to");
            }
            add(change.additions, *params.sandbox);
        }
        co_await session->restart(std::move(change)); // goes on without this client too
        co_return session->info();
    }

    Task<protocol::LimitsSetResult> set_limits(protocol::LimitsSetParams params) {
        const std::shared_ptr<session::Session> session = sidecar.sessions.find(params.session_id);
        if (const AgentLimits* of_agent = limits_of_agent(sidecar, client)) {
            if (!session->belongs_to(client.id)) {
                client.refuse("an agent can lower the limits only of a session that it created");
            }
            of_agent->limits_of(params.limits);
            require_lower(params.limits, session->options().limits);
        }
        protocol::LimitsSetResult result;
        result.after_restart = co_await session->set_limits(params.limits);
        result.limits = session->options().limits;
        sidecar.activity.limits_changed(params, client.agent);
        co_return result;
    }

    Task<protocol::SessionTransferResult> transfer(protocol::SessionTransferParams params) {
        const std::shared_ptr<session::Session> from = sidecar.sessions.find(params.from);
        const std::shared_ptr<session::Session> to = sidecar.sessions.find(params.to);
        if (client.role != protocol::Role::user && !(from->belongs_to(client.id) && to->belongs_to(client.id))) {
            client.refuse("an agent can copy variables only between sessions that it created");
        }
        std::string name = params.as.value_or(params.name);
        from->require_variable_name(params.name);
        to->require_variable_name(name);
        if (client.agent) {
            sidecar.review.require_copy_allowed(params.from, params.to, *client.agent);
        }
        session::VariableCopy copy = co_await from->export_variable(std::move(params.name));
        protocol::SessionTransferResult result{copy.type, copy.value.text().size()};
        sidecar.review.result_copied(params.from, params.to);
        co_await to->import_variable(std::move(name), std::move(copy));
        co_return result;
    }

    Task<Empty> interrupt(protocol::SessionParams params) {
        const std::shared_ptr<session::Session> session = sidecar.sessions.find(params.session_id);
        if (client.role != protocol::Role::user && !session->runs_for(client.id)) {
            client.refuse("an agent can interrupt only what it runs itself");
        }
        session->interrupt();
        co_return Empty{};
    }

    Task<Empty> close(protocol::SessionParams params) {
        if (client.role != protocol::Role::user && !sidecar.sessions.find(params.session_id)->belongs_to(client.id)) {
            client.refuse("an agent can close only a session that it created");
        }
        std::string reason = "the session was closed";
        co_await sidecar.sessions.close(std::move(params.session_id), std::move(reason));
        co_return Empty{};
    }
};

} // namespace

void add_session_handlers(SidecarServices& sidecar, Client& client) {
    const auto handlers = std::make_shared<Sessions>(sidecar, client);
    client.peer.on_request<protocol::SessionCreate>(
        [handlers](protocol::SessionCreateParams params) { return handlers->create(std::move(params)); });
    client.peer.on_request<protocol::SessionList>([handlers](Empty params) { return handlers->list(params); });
    client.peer.on_request<protocol::SessionAttach>(
        [handlers](protocol::SessionParams params) { return handlers->attach(std::move(params)); });
    client.peer.on_request<protocol::SessionRestart>(
        [handlers](protocol::SessionRestartParams params) { return handlers->restart(std::move(params)); });
    client.peer.on_request<protocol::LimitsSet>(
        [handlers](protocol::LimitsSetParams params) { return handlers->set_limits(std::move(params)); });
    client.peer.on_request<protocol::SessionTransfer>(
        [handlers](protocol::SessionTransferParams params) { return handlers->transfer(std::move(params)); });
    client.peer.on_request<protocol::SessionInterrupt>(
        [handlers](protocol::SessionParams params) { return handlers->interrupt(std::move(params)); });
    client.peer.on_request<protocol::SessionClose>(
        [handlers](protocol::SessionParams params) { return handlers->close(std::move(params)); });
}

} // namespace cellgate::service
