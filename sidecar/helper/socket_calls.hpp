#pragma once
// `make_socket_call` makes `bind` and `connect` in a caller's place, on the caller's own socket. Landlock does not
// control the paths of unix sockets before version 9, and programs outside that obey their clients listen on them. The
// filter cannot see which kind of address a call has, since it is in the caller's memory.

#include "access_policy.hpp"
#include "caller.hpp"
#include "own_sockets.hpp"

namespace cellgate::helper {

// False when the call that `caller` waits for is none of these. Throws CallError.
bool make_socket_call(const Caller& caller, const AccessPolicy& policy, OwnSockets& own_sockets);

} // namespace cellgate::helper
