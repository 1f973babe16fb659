#pragma once
// `start_kernel_bridge` starts the way to a kernel that can listen on TCP ports only, in a sandbox that has a network
// of its own: a process that listens on unix sockets in the session's directory, as the kernel would with ZeroMQ's
// `ipc`, and carries each connection to a port of 127.0.0.1, byte for byte. Outside of the sandbox nothing reaches the
// ports.

namespace cellgate::helper {

// `way`: "31281:/path/of/the/sockets": the port of the first of the kernel's five channels, the others follow, and what
// the paths of the sockets begin with (jupyter/connection.hpp). To be called by what becomes the kernel, which may take
// its time to listen: until it does, clients wait. False, with errno, when the sockets cannot be made.
bool start_kernel_bridge(const char* way);

} // namespace cellgate::helper
