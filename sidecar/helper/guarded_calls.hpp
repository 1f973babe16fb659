#pragma once
// The calls that open, name, move and remove files, made in a caller's place.

#include "caller.hpp"
#include "access_policy.hpp"
#include "own_sockets.hpp"

namespace cellgate::helper {

// Judges the call that `caller` waits for, makes it, and answers. `own_sockets` are those that were bound so.
void make_call(const Caller& caller, const AccessPolicy& policy, OwnSockets& own_sockets);

} // namespace cellgate::helper
