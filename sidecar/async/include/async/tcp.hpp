#pragma once
// Connections to the network, each in its two steps: a name becomes addresses once, and what is connected to is one of
// these addresses. Whoever judges addresses stands between the two.

#include "async/loop.hpp"
#include "async/stream.hpp"
#include "base/host.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cellgate::async {

// The addresses of a name, in the system's order of preference, without repetition; of an address, itself. Throws
// Error{internal_error} with the resolver's text. The name is looked up as it is, without the domains that this machine
// would try behind it. The system's resolver cannot be stopped: when this is cancelled, a thread goes on with it until
// it ends by itself, unheard; so whoever calls this bounds how many there are.
Task<std::vector<Host>> resolve_host(Loop& loop, Host host);

// `endpoint` is an address and a port. Throws Error{internal_error}: "cannot connect to 192.0.2.1:80: Connection
// refused".
Task<std::unique_ptr<SocketStream>> connect_tcp(Loop& loop, Endpoint endpoint);

} // namespace cellgate::async
