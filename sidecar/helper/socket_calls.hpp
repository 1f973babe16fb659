#pragma once
// The calls that give a unix socket an address, made in a caller's place, on its own socket: Landlock knows nothing of
// these addresses before version 9, and behind them are programs that do what they are told.

#include "caller.hpp"
#include "judge.hpp"

namespace cellgate::helper {

// False when the call that `caller` waits for is none of these. Throws CallError.
bool make_socket_call(const Caller& caller, const Judge& judge);

} // namespace cellgate::helper
