#pragma once
// `suggested_rule` is the narrowest allow rule that covers all of some actions: calls of one tool, with what their
// arguments have alike, or connections to one host.

#include "protocol/messages/policy.hpp"

#include <vector>

namespace cellgate::service {

// Of one action or more. Throws Error{rule_invalid} when they have nothing alike that a rule could name.
protocol::RuleSpec suggested_rule(const std::vector<protocol::Action>& actions);

} // namespace cellgate::service
