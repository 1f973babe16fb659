#pragma once
// `start_bridge` starts the only way out of a sandbox that has no network: a process that listens on 127.0.0.1, where
// programs expect a proxy, and carries each connection to the unix socket of the sidecar's proxy (sidecar/egress), byte
// for byte. It decides nothing: the proxy judges each connection. Code in the sandbox may connect to the socket itself,
// and may end the bridge where there is no Landlock.
//
// It also listens at the ports of relays, for programs that know no proxy: there it asks the proxy for the relay's host
// by SOCKS5 (RFC 1928) itself, and resets a connection that the proxy refuses.
//
// Before a connection's own bytes it writes a NUL, a length of one byte, and as many bytes of text: which program
// connects (connected_program.hpp).

#include <vector>

namespace cellgate::helper {

// `way`: "3128:/path/of/the/socket". `relays`: "4:5432:localhost", which is the family of the address that it listens
// on, the port of both, and the host that is asked for. One of family 6 is left out where there is no IPv6. To be
// called by what becomes the sandbox's command. Starts it as a child of the sandbox's first process, with no descriptor
// of this one. True when it listens; else errno says why.
bool start_bridge(const char* way, const std::vector<const char*>& relays);

} // namespace cellgate::helper
