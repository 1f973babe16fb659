#pragma once
// The calls that give a socket an address, or that of its other end, made in a caller's place, on its own socket:
// Landlock knows nothing of the paths of unix sockets before version 9, and behind them are programs that do what they
// are told. What kind of an address it is, the filter cannot see: it is in the caller's memory.

#include "caller.hpp"
#include "access_policy.hpp"
#include "own_sockets.hpp"

namespace cellgate::helper {

// False when the call that `caller` waits for is none of these. Throws CallError.
bool make_socket_call(const Caller& caller, const AccessPolicy& policy, OwnSockets& own_sockets);

} // namespace cellgate::helper
