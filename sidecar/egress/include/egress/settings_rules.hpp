#pragma once
// rules_of() makes rules for the gate from the hosts in a sandbox's settings file. They are rules of that session, or
// of that tool server.

#include "protocol/messages/policy.hpp"
#include "sandbox/settings.hpp"

#include <vector>

namespace cellgate::egress {

// None without `settings`.
std::vector<protocol::RuleSpec> rules_of(const sandbox::Settings* settings);

} // namespace cellgate::egress
