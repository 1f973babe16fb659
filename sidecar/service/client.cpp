#include "client.hpp"

#include "method_table.hpp"

#include <fmt/format.h>

namespace cellgate::service {

Client::Client(session::ClientId id_, protocol::Role role_, std::shared_ptr<protocol::Connection> connection,
               OutputFeed::Aside aside)
    : id(id_), role(role_), peer(std::move(connection), protocol::Dialect::editor), outputs(peer, std::move(aside)) {
    peer.set_admission([this](const std::string& method) { admit(method); });
}

void Client::admit(const std::string& method) const {
    if (method == "exit" || method.starts_with("$/")) {
        return;
    }
    if (stage == Stage::connected && method != "initialize") {
        throw Error(ErrorCode::server_not_initialized, fmt::format("expected initialize first, found {}", method));
    }
    if (stage == Stage::shut_down) {
        throw Error(ErrorCode::invalid_request, fmt::format("expected exit after shutdown, found {}", method));
    }
    require_role(method, role);
}

void Client::on_requested(const protocol::Approval& approval) {
    peer.notify<protocol::ApprovalRequested>(approval);
}

void Client::on_resolved(const protocol::ApprovalResolvedParams& resolved) {
    peer.notify<protocol::ApprovalResolved>(resolved);
}

} // namespace cellgate::service
