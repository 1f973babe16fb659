#pragma once
// connection_rule() is the rule of an entry in a list of hosts, as flags, settings and typed rules have them:
// "example.org", "*.example.org:443", "tcp://db.example.org:5432" for connections that speak any protocol.

#include "protocol/messages/policy.hpp"

#include <string>
#include <string_view>

namespace cellgate::gate {

// The pattern is not checked here.
protocol::RuleSpec connection_rule(protocol::Effect effect, std::string_view entry);
// The entry of a host that is asked about, or of a rule's.
std::string host_entry(std::string_view host, const std::optional<protocol::NetworkProtocol>& protocol);

} // namespace cellgate::gate
