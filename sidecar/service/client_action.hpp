#pragma once
// `client_request` is what the gate is asked about an action that a client carries out itself: a call of one of its own
// tools, or a request of HTTP that its own proxy forwards.

#include "gate/agent.hpp"
#include "gate/decision.hpp"
#include "protocol/messages/policy.hpp"

#include <optional>

namespace cellgate::service {

// Throws Error{arguments_invalid} for an action of another kind, or one that lacks a field.
gate::Request client_request(protocol::ActionDecideParams params, const std::optional<gate::Agent>& agent);

} // namespace cellgate::service
