#pragma once
// `start_bridge` starts the only way out of a sandbox that has no network: a process that listens on 127.0.0.1, where
// programs expect a proxy, and carries each connection to the unix socket of the sidecar's proxy (sidecar/egress), byte
// for byte. It decides nothing: the proxy judges each connection. Code in the sandbox may connect to the socket itself,
// and may end the bridge where there is no Landlock.
//
// Before a connection's own bytes it writes a NUL, a length of one byte, and as many bytes of text: which program
// connects, by what /proc says. In its first line are the socket's inode, after "command " when the program is the one
// that the sandbox is for, and which thread started which process on the way to the program ("41:2"); then comes the
// program's command line.

namespace cellgate::helper {

// `way`: "3128:/path/of/the/socket". To be called by what becomes the sandbox's command. Starts it as a child of the
// sandbox's first process, with no descriptor of this one. True when it listens; else errno says why.
bool start_bridge(const char* way);

} // namespace cellgate::helper
