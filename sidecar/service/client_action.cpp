#include "client_action.hpp"

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/host.hpp"
#include "base/names.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace cellgate::service {

namespace {

// Of a client's own session. Numbers of connections count from 1 and never get so high.
std::uint64_t number_of(const std::string& session) {
    constexpr std::uint64_t highest_bit = std::uint64_t{1} << 63U;
    return std::stoull(sha256(session).substr(0, 16), nullptr, 16) | highest_bit;
}

// Who carries it out is all that is known of the tool, so the identities are hashes of the names: a grant holds for no
// tool server that has the same one.
void name_tool(protocol::Action& action) {
    if (!action.cwd || !action.cwd->starts_with('/')) {
        throw Error(ErrorCode::arguments_invalid, "params.action.cwd: expected an absolute path");
    }
    action.server_identity = sha256(fmt::format("the client {}", action.server.value_or("")));
    action.tool_identity = sha256(fmt::format("a tool of {}: {}", *action.server_identity, action.tool.value_or("")));
}

// Rules and approvals have a host in one spelling.
void name_host(protocol::Action& action) {
    const std::optional<Host> host = parse_host(action.host.value_or(""));
    if (!host || !action.port) {
        throw Error(ErrorCode::arguments_invalid, "params.action: expected the host and the port of a request");
    }
    action.host = host->name;
    action.server.reset();
    action.server_identity.reset();
    action.secrets.reset();
}

} // namespace

gate::Request client_request(protocol::ActionDecideParams params, const std::optional<gate::Agent>& agent) {
    protocol::Action& action = params.action;
    if (action.kind == protocol::ActionKind::tool) {
        name_tool(action);
    } else if (action.kind == protocol::ActionKind::request) {
        name_host(action);
    } else {
        throw Error(ErrorCode::arguments_invalid, "params.action.kind: expected tool or request");
    }
    gate::Request request;
    request.agent = agent;
    request.of_client = true;
    if (params.client_session) {
        const std::string owner = action.server.value_or("client");
        request.session_id = fmt::format("{}-{}", owner, *params.client_session);
        if (!is_identifier(*request.session_id)) {
            throw Error(ErrorCode::arguments_invalid,
                        fmt::format("params.clientSession: too long for sessions of {}", owner));
        }
        // Each action may come over a connection of its own: what a user grants is the session's.
        if (request.agent) {
            request.agent->client = number_of(*request.session_id);
        }
    }
    request.action = gate::from_protocol(action);
    return request;
}

} // namespace cellgate::service
