#pragma once
// `make_call` makes the calls that open, name, move and remove files in a caller's place.

#include "access_policy.hpp"
#include "caller.hpp"
#include "own_sockets.hpp"

namespace cellgate::helper {

// Judges the call that `caller` waits for, makes it, and answers. `own_sockets` are those that were bound so.
void make_call(const Caller& caller, const AccessPolicy& policy, OwnSockets& own_sockets);

} // namespace cellgate::helper
