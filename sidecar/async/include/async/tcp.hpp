#pragma once
// `resolve_host` and `connect_tcp` open network connections in two steps: a name is resolved to addresses once, and the
// connection goes to one of these addresses. Callers check the addresses between the two steps.

#include "async/loop.hpp"
#include "async/stream.hpp"
#include "base/host.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cellgate::async {

// The addresses of a name, in the system's order of preference, without repetition; of an address, itself. Throws
// Error{internal_error} with the resolver's text. The name is looked up as it is, without the machine's search domains.
// The system's resolver cannot be stopped: after a cancellation its thread runs on until the lookup ends, and the
// result is dropped. The caller therefore bounds the number of lookups.
Task<std::vector<Host>> resolve_host(Loop& loop, Host host);

// `endpoint` is an address and a port. Throws Error{internal_error}: "cannot connect to 192.0.2.1:80: Connection
// refused".
Task<std::unique_ptr<SocketStream>> connect_tcp(Loop& loop, Endpoint endpoint);

} // namespace cellgate::async
