// initialize, shutdown, exit.

#include "base/log.hpp"
#include "handlers.hpp"

#include <cerrno>
#include <csignal>

namespace cellgate::service {

namespace {

constexpr Duration look_for_client_every = std::chrono::seconds(2);

bool is_running(std::int64_t pid) {
    return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH;
}

// An editor can die and leave its end of the pipe open in a child of its own.
Task<void> close_after(Clock* clock, std::int64_t pid, Client* client) {
    while (is_running(pid)) {
        co_await sleep_for(*clock, look_for_client_every);
    }
    client->peer.close();
}

struct Lifecycle {
    SidecarServices& sidecar;
    Client& client;
    bool ready = false;

    Task<protocol::InitializeResult> initialize(protocol::InitializeParams params) {
        if (client.stage != Client::Stage::connected) {
            throw Error(ErrorCode::invalid_request, "expected initialize once, found it again");
        }
        if (params.initialization_options) {
            configure(std::move(*params.initialization_options));
        }
        client.set_identity(params.client_info, params.capabilities);
        log_info("client {} ({}) has come", client.id, client.name);
        if (client.capabilities.images == protocol::ImageTransport::file) {
            client.outputs.use_files();
        }
        client.stage = Client::Stage::initialized;
        // A process that is not visible here (the client may be in a container) cannot be watched.
        if (const std::optional<std::int64_t> pid = params.process_id.value; pid && *pid > 0 && is_running(*pid)) {
            client.tasks.spawn(close_after(&sidecar.loop.clock(), *pid, &client));
        }
        protocol::InitializeResult result;
        result.server_info.version = CELLGATE_VERSION;
        result.role = client.role;
        if (client.role == protocol::Role::user && sidecar.outlives_clients) {
            std::vector<protocol::LostWork> lost = co_await sidecar.crash_recovery.lost();
            if (!lost.empty()) {
                result.lost = std::move(lost);
            }
        }
        co_return result;
    }

    // From here on it hears of approvals and elicitations, first of those that wait already.
    void initialized() {
        if (std::exchange(ready, true)) {
            return;
        }
        if (client.answers_approvals()) {
            sidecar.gate.attach(client);
        }
        if (client.answers_elicitations()) {
            sidecar.elicitations.attach(client);
        }
    }

    // All of it, or nothing.
    void configure(protocol::InitializationOptions given) {
        if (given.mcp_servers) {
            sidecar.trusted_servers.add(*given.mcp_servers, protocol::ToolServerSource::user);
        }
        if (given.linger_seconds) {
            client.linger = from_seconds(*given.linger_seconds);
            sidecar.idle_tracker.cancel_reconnect(); // this one satisfies it
        }
        if (given.output_limit_bytes) {
            sidecar.journals.set_limit_of_one(*given.output_limit_bytes);
        }
        if (given.spare_kernel) {
            sidecar.spares.enable(*given.spare_kernel);
        }
    }

    Task<RawJson> shutdown(Empty) {
        client.stage = Client::Stage::shut_down;
        client.clean_exit = true;
        if (client.answers_approvals()) {
            sidecar.gate.detach(client, sidecar.idle_tracker.reconnect_remaining()); // it can answer no more
        }
        sidecar.elicitations.detach(client, sidecar.idle_tracker.reconnect_remaining());
        co_return RawJson();
    }

    void exit() {
        client.clean_exit = true;
        client.peer.close();
    }
};

} // namespace

void add_lifecycle_handlers(SidecarServices& sidecar, Client& client) {
    const auto handlers = std::make_shared<Lifecycle>(sidecar, client);
    client.peer.on_request<protocol::Initialize>(
        [handlers](protocol::InitializeParams params) { return handlers->initialize(std::move(params)); });
    client.peer.on_notification<protocol::Initialized>([handlers](Empty) { handlers->initialized(); });
    client.peer.on_request<protocol::Shutdown>([handlers](Empty params) { return handlers->shutdown(params); });
    client.peer.on_notification<protocol::Exit>([handlers](Empty) { handlers->exit(); });
}

} // namespace cellgate::service
