#pragma once
// `session_limits.hpp` is about the limits of a session in the form in which clients give them.

#include "protocol/messages/sessions.hpp"
#include "sandbox/limits.hpp"

#include <vector>

namespace cellgate::session {

bool any_of(const protocol::Limits& limits);
// Those that the sandbox enforces: all but wallSeconds.
sandbox::Limits limits_of_sandbox(const protocol::Limits& limits);
// `limits` with the values that `change` names.
protocol::Limits with_changed(protocol::Limits limits, const protocol::Limits& change);
// Those of `change` that do not hold for a kernel that was started with `started` and is in a control group that has
// `group`: the limits of each process stay as they are, so less of a sum can hold at once, and more cannot.
std::vector<protocol::LimitName> after_restart(const protocol::Limits& change, const sandbox::Limits& started,
                                               const sandbox::GroupLimits& group);

} // namespace cellgate::session
