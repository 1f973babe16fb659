#include "client.hpp"

#include "base/encoding.hpp"
#include "base/log.hpp"
#include "base/visible_text.hpp"
#include "method_table.hpp"

#include <fmt/format.h>

namespace cellgate::service {

namespace {

// An agent's name as a person sees it, in one line beside what it asks for.
std::string shown_name(std::string_view name) {
    constexpr std::size_t longest = 40; // characters
    std::size_t bytes = 0;
    for (std::size_t count = 0; bytes < name.size() && count < longest; ++count) {
        bytes += decode_utf8(name.substr(bytes)).length;
    }
    std::string shown = visible_text(name.substr(0, bytes));
    if (bytes < name.size()) {
        shown += "…";
    }
    return shown.find_first_not_of(' ') == std::string::npos ? "without a name" : shown;
}

} // namespace

Client::Client(session::ClientId id_, protocol::Role role_, std::shared_ptr<protocol::Connection> connection,
               OffLoop off_loop)
    : id(id_), role(role_), peer(std::move(connection), protocol::Dialect::editor), outputs(peer, std::move(off_loop)) {
    peer.set_admission([this](const std::string& method, const RawJson& params) { admit(method, params); });
}

void Client::introduce(const protocol::ClientInfo& info, const protocol::ClientCapabilities& can) {
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
    if (role != protocol::Role::person) {
        if (const std::optional<std::string> widening = what_is_for_persons(method, params)) {
            refuse(fmt::format("{} is for persons, and this client is an agent", *widening));
        }
    }
}

void Client::refuse(const std::string& why) const {
    log_warning("client {} ({}) was refused: {}", id, name, why);
    throw Error(ErrorCode::forbidden, why, "leave that out, or ask the person at the editor to do it");
}

void Client::on_requested(const protocol::Approval& approval) {
    peer.notify<protocol::ApprovalRequested>(approval);
}

void Client::on_resolved(const protocol::ApprovalResolvedParams& resolved) {
    peer.notify<protocol::ApprovalResolved>(resolved);
}

} // namespace cellgate::service
