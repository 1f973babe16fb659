// session/*, kernel/list.

#include "base/names.hpp"
#include "base/visible_text.hpp"
#include "progress.hpp"
#include "require.hpp"
#include "sidecar_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cellgate::service {

namespace {

constexpr std::string_view agent_prefix = "agent-";
constexpr double most_seconds = 365.0 * 24 * 3600;
constexpr std::ptrdiff_t most_of_an_agent = 8;

// Throws Error{invalid_params}, also for a limit that is not known: it would not hold.
sandbox::Limits read_limits(const RawJson& limits) {
    for (const auto& [name, value] : json_members(limits.text())) {
        if (name != "memoryBytes" && name != "processCount" && name != "cpuSeconds") {
            throw Error(ErrorCode::invalid_params,
                        fmt::format("params.limits: expected memoryBytes, processCount or cpuSeconds, found {}",
                                    visible_text(name.substr(0, 60))));
        }
    }
    const auto asked = from_json<protocol::Limits>(limits, "params.limits");
    require(asked.memory_bytes.value_or(1) > 0, "params.limits.memoryBytes: expected 1 or more");
    require(asked.process_count.value_or(1) > 0, "params.limits.processCount: expected 1 or more");
    require(asked.cpu_seconds.value_or(1) > 0 && asked.cpu_seconds.value_or(1) <= most_seconds,
            "params.limits.cpuSeconds: expected more than 0, and at most a year");
    sandbox::Limits read;
    read.memory_bytes = asked.memory_bytes;
    read.process_count = asked.process_count;
    if (asked.cpu_seconds) { // the system counts whole ones
        read.cpu_seconds = static_cast<std::uint64_t>(std::ceil(*asked.cpu_seconds));
    }
    return read;
}

struct Sessions {
    Sidecar::Impl& sidecar;
    Client& client;

    std::string new_id() const {
        return client.role == protocol::Role::person ? random_id() : std::string(agent_prefix) + random_id();
    }

    // A person who finds the id of a session must not find an agent's kernel behind it.
    void require_room_for_agent(const std::string& id) const {
        if (client.role == protocol::Role::person) {
            return;
        }
        if (!id.starts_with(agent_prefix)) {
            client.refuse(
                fmt::format("the id of an agent's session begins with \"{}\", found \"{}\"", agent_prefix, id));
        }
        const std::vector<std::shared_ptr<session::Session>> all = sidecar.sessions();
        const auto own = std::count_if(all.begin(), all.end(),
                                       [this](const auto& session) { return session->belongs_to(client.id); });
        if (own >= most_of_an_agent) {
            throw Error(ErrorCode::limit_exceeded,
                        fmt::format("expected at most {} sessions of one agent, found {}", most_of_an_agent, own),
                        "use one of those that are there");
        }
    }

    Task<protocol::SessionInfo> create(protocol::SessionCreateParams params) {
        session::SessionOptions options = sidecar.default_session();
        options.id = params.session_id.value_or(new_id());
        require_identifier(options.id, "session id");
        require_room_for_agent(options.id);
        options.language = params.language;
        if (params.kernel) {
            if (params.kernel->name.has_value() == params.kernel->interpreter.has_value()) {
                throw Error(ErrorCode::invalid_params, "params.kernel: expected either a name or an interpreter");
            }
            options.kernel = *params.kernel;
        }
        if (params.cwd) {
            options.cwd = sidecar.resolve_path(*params.cwd);
        }
        options.restore_cwd = params.restore_cwd.value_or(false);
        options.environment = params.env.value_or(std::map<std::string, std::string>{});
        options.tool_servers = params.tool_servers;
        options.agent = client.agent;
        if (!params.sandbox.value_or(true)) {
            options.isolation = sandbox::Isolation::none;
        }
        if (params.limits) {
            options.limits = read_limits(*params.limits);
        }
        Progress progress(client.peer, params.work_done_token, "Starting the kernel");
        const std::shared_ptr<session::Session> session = co_await sidecar.create(std::move(options));
        co_return session->info();
    }

    Task<protocol::SessionListResult> list(Empty) {
        protocol::SessionListResult result;
        for (const std::shared_ptr<session::Session>& session : sidecar.sessions()) {
            result.sessions.push_back(session->info());
        }
        std::sort(result.sessions.begin(), result.sessions.end(),
                  [](const auto& a, const auto& b) { return a.created_at < b.created_at; });
        co_return result;
    }

    // In one turn of the loop with its answer: no record can come in between.
    Task<protocol::SessionAttachResult> attach(protocol::SessionParams params) {
        const std::shared_ptr<session::Session> session = sidecar.find(params.session_id);
        client.attached.insert(params.session_id);
        protocol::SessionAttachResult result;
        result.session = session->info();
        for (const std::shared_ptr<session::Execution>& execution : session->executions()) {
            result.executions.push_back({execution->id, execution->state, session->position(*execution),
                                         client.outputs.first_unsent(execution->id, execution->journal.next_seq()),
                                         execution->params.cell, gate::name_of(execution->agent)});
        }
        co_return result;
    }

    Task<protocol::SessionInfo> restart(protocol::SessionRestartParams params) {
        if (client.role != protocol::Role::person && !sidecar.find(params.session_id)->belongs_to(client.id)) {
            client.refuse("an agent can restart only a session that it created");
        }
        Progress progress(client.peer, params.work_done_token, "Restarting the kernel");
        std::optional<std::string> id = std::move(params.session_id);
        const std::shared_ptr<session::Session> session = co_await sidecar.find_or_start(std::move(id));
        co_await session->restart(); // goes on without this client too
        co_return session->info();
    }

    Task<Empty> interrupt(protocol::SessionParams params) {
        const std::shared_ptr<session::Session> session = sidecar.find(params.session_id);
        if (client.role != protocol::Role::person && !session->runs_for(client.id)) {
            client.refuse("an agent can interrupt only what it runs itself");
        }
        session->interrupt();
        co_return Empty{};
    }

    Task<Empty> close(protocol::SessionParams params) {
        std::string reason = "the session was closed";
        co_await sidecar.close_session(std::move(params.session_id), std::move(reason));
        co_return Empty{};
    }

    Task<protocol::KernelListResult> list_kernels(Empty) {
        jupyter::KernelRequest request;
        request.workspace = sidecar.root;
        request.environment = sidecar.options.environment;
        const std::vector<jupyter::KernelInfo> kernels =
            co_await jupyter::list_kernels(sidecar.loop, std::move(request));
        protocol::KernelListResult result;
        for (const jupyter::KernelInfo& kernel : kernels) {
            protocol::KernelListEntry entry{kernel.name, kernel.display_name, kernel.language, "interpreter", {},
                                            {},          kernel.problem};
            // A spec's name is never a path.
            if (kernel.name.find('/') == std::string::npos) {
                entry.source = "kernelspec";
                entry.resource_dir = kernel.path;
            } else {
                entry.interpreter = kernel.path;
            }
            result.kernels.push_back(std::move(entry));
        }
        co_return result;
    }
};

} // namespace

void add_session_handlers(Sidecar::Impl& sidecar, Client& client) {
    const auto handlers = std::make_shared<Sessions>(sidecar, client);
    client.peer.on_request<protocol::SessionCreate>(
        [handlers](protocol::SessionCreateParams params) { return handlers->create(std::move(params)); });
    client.peer.on_request<protocol::SessionList>([handlers](Empty params) { return handlers->list(params); });
    client.peer.on_request<protocol::SessionAttach>(
        [handlers](protocol::SessionParams params) { return handlers->attach(std::move(params)); });
    client.peer.on_request<protocol::SessionRestart>(
        [handlers](protocol::SessionRestartParams params) { return handlers->restart(std::move(params)); });
    client.peer.on_request<protocol::SessionInterrupt>(
        [handlers](protocol::SessionParams params) { return handlers->interrupt(std::move(params)); });
    client.peer.on_request<protocol::SessionClose>(
        [handlers](protocol::SessionParams params) { return handlers->close(std::move(params)); });
    client.peer.on_request<protocol::KernelList>([handlers](Empty params) { return handlers->list_kernels(params); });
}

} // namespace cellgate::service
