#pragma once
// What a sandbox's settings file says about hosts, as rules of the gate: those of its session, or of its tool server.

#include "protocol/messages/policy.hpp"
#include "sandbox/settings.hpp"

#include <vector>

namespace cellgate::egress {

// None without `settings`.
std::vector<protocol::RuleSpec> rules_of(const sandbox::Settings* settings);

} // namespace cellgate::egress
