#include "local_sidecar.hpp"

#include "base/memory_stream.hpp"

#include <unistd.h>

namespace cellgate::cli {

namespace {

service::SidecarOptions part_of_this(service::SidecarOptions options) {
    options.outlives_clients = false;
    return options;
}

} // namespace

LocalSidecar::LocalSidecar(async::Loop& loop, service::SidecarOptions options, ClientEvents& events, bool can_type)
    : sidecar_(loop, part_of_this(std::move(options))), can_type_(can_type) {
    auto [client_end, sidecar_end] = memory_stream_pair();
    peer_ = std::make_unique<protocol::Peer>(
        std::make_shared<protocol::FramedConnection>(std::move(client_end), protocol::Framing::content_length),
        protocol::Dialect::editor);
    peer_->on_notification<protocol::ExecuteOutput>(
        [&events](const protocol::ExecuteOutputParams& output) { events.on_output(output); });
    peer_->on_notification<protocol::ExecuteProgress>([&events](const protocol::ExecuteProgressParams& progress) {
        events.on_progress(progress.message
                               ? fmt::format("{}, {}: {}", progress.server, progress.tool, *progress.message)
                               : std::string());
    });
    peer_->on_notification<protocol::Progress>([&events](const protocol::ProgressParams& progress) {
        events.on_progress(progress.value.message.value_or(progress.value.title.value_or("")));
    });
    peer_->on_notification<protocol::ApprovalRequested>(
        [&events](const protocol::Approval& approval) { events.on_approval_requested(approval); });
    peer_->on_notification<protocol::ApprovalResolved>(
        [&events](const protocol::ApprovalResolvedParams& resolved) { events.on_approval_resolved(resolved); });
    peer_->on_notification<protocol::ToolServersLoginEnded>(
        [&events](const protocol::ToolServersLoginEndedParams& ended) { events.on_login_ended(ended); });
    peer_->on_notification<protocol::ElicitationRequested>(
        [&events](const protocol::Elicitation& elicitation) { events.on_elicitation_requested(elicitation); });
    peer_->on_notification<protocol::ElicitationResolved>(
        [&events](const protocol::ElicitationResolvedParams& resolved) { events.on_elicitation_resolved(resolved); });
    peer_->on_request<protocol::InputRequest>(
        [&events](protocol::InputRequestParams params) { return events.on_input_request(std::move(params)); });
    tasks_.spawn(peer_->run());
    tasks_.spawn(serve(std::move(sidecar_end)));
}

LocalSidecar::~LocalSidecar() = default;

Task<void> LocalSidecar::serve(std::unique_ptr<ByteStream> stream) {
    auto connection =
        std::make_shared<protocol::FramedConnection>(std::move(stream), protocol::Framing::content_length);
    co_await sidecar_.serve(std::move(connection), protocol::Role::user);
}

Task<void> LocalSidecar::start() {
    protocol::InitializeParams params;
    params.client_info = {"cellgate command line", CELLGATE_VERSION};
    params.process_id.value = ::getpid();
    params.capabilities.approvals = true;
    params.capabilities.input = can_type_;
    params.capabilities.elicitation = can_type_;
    co_await peer_->call<protocol::Initialize>(std::move(params));
    peer_->notify<protocol::Initialized>(Empty{});
}

Task<void> LocalSidecar::close() {
    peer_->close();
    co_await tasks_.join();
    co_await sidecar_.close();
}

} // namespace cellgate::cli
