#include "client.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "method_table.hpp"

#include <fmt/format.h>

namespace cellgate::service {

namespace {

// An agent's name as a user sees it, on one line with its request.
std::string shown_name(std::string_view name) {
    constexpr std::size_t max_characters = 40;
    std::size_t bytes = 0;
    for (std::size_t count = 0; bytes < name.size() && count < max_characters; ++count) {
        bytes += decode_utf8(name.substr(bytes)).length;
    }
    std::string shown = escape_unprintable(name.substr(0, bytes));
    if (bytes < name.size()) {
        shown += "…";
    }
    return shown.find_first_not_of(' ') == std::string::npos ? "without a name" : shown;
}

} // namespace

Client::Client(session::ClientId id_, protocol::Role role_, std::shared_ptr<protocol::Connection> connection,
               RunBlocking run_blocking)
    : id(id_), role(role_), peer(std::move(connection), protocol::Dialect::editor),
      outputs(peer, std::move(run_blocking)) {
    peer.set_admission([this](const std::string& method, const RawJson& params) { admit(method, params); });
}

void Client::set_identity(const protocol::ClientInfo& info, const protocol::ClientCapabilities& can) {
    name = shown_name(info.name);
    capabilities = can;
    if (role == protocol::Role::agent) {
        agent = gate::Agent{id, name};
    }
}

void Client::admit(const std::string& method, const RawJson& params) const {
    if (method == "exit" || method.starts_with("$/")) {
        return;
    }
    if (stage == Stage::connected && method != "initialize") {
        throw Error(ErrorCode::server_not_initialized, fmt::format("expected initialize first, found {}", method));
    }
    if (stage == Stage::shut_down) {
        throw Error(ErrorCode::invalid_request, fmt::format("expected exit after shutdown, found {}", method));
    }
    if (role != protocol::Role::user) {
        if (const std::optional<std::string> widening = users_only_part(method, params)) {
            refuse(fmt::format("{} is for users, and this client is an agent", *widening));
        }
    }
}

void Client::refuse(const std::string& why) const {
    log_warning("client {} ({}) was refused: {}", id, name, why);
    throw Error(ErrorCode::forbidden, why, "leave that out, or ask the user at the editor to do it");
}

void Client::count_shown(const protocol::Approval& approval) {
    if (stats != nullptr) {
        stats->approval_shown(approval.approval_id);
    }
}

void Client::on_requested(const protocol::Approval& approval) {
    count_shown(approval);
    peer.notify<protocol::ApprovalRequested>(approval);
}

void Client::on_resolved(const protocol::ApprovalResolvedParams& resolved) {
    peer.notify<protocol::ApprovalResolved>(resolved);
}

void Client::on_elicitation_requested(const protocol::Elicitation& elicitation) {
    peer.notify<protocol::ElicitationRequested>(elicitation);
}

void Client::on_elicitation_resolved(const protocol::ElicitationResolvedParams& resolved) {
    peer.notify<protocol::ElicitationResolved>(resolved);
}

} // namespace cellgate::service
