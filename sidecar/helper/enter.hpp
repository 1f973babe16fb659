#pragma once
// `cellgate enter HELPER [lifeline=FD] [places] [guard] [landlock] [bridge=PORT:SOCKET [relay=FAMILY:PORT:HOST]…]
// [kernel=PORT:SOCKETS] [LIMIT=VALUE…] -- COMMAND…` is the first program in a sandbox, and its first process for as
// long as it lives (init.hpp). HELPER is a descriptor of this program, through which it was started, and which it
// closes; -1: it has a name there. In gVisor there are two: one around it, and one in it (gvisor_launcher.hpp).
//
// It starts COMMAND with its limits (memory: bytes of each process; processes: processes and threads together;
// open-files: of each process; file-size: bytes of each file; cpu: seconds of each process; never a core dump). The
// options:
//   places    first it compares the mounted files with the intended ones, which /.cellgate/places lists: a path and its
//             "<device>:<inode>" for each, every text ended by a NUL
//   guard     the filter in /.cellgate/guard-filter sends COMMAND's calls to this process, which keeps the names in
//             /.cellgate/protected-names (protected_names.hpp) from being created
//   landlock  this process and COMMAND restrict themselves (landlock.hpp) to writing below the paths in
//             /.cellgate/writable, each ended by a NUL
//   bridge    connections to the port are carried to the sidecar's proxy (bridge.hpp)
//   relay     the proxy is asked to connect those to this port to the host
//   kernel    connections to the unix sockets are carried to COMMAND's ports (kernel_bridge.hpp)

namespace cellgate::helper {

// argv[0] is "enter". Ends as COMMAND did: 128 and the signal's number, if it was one. With 125 and a line on stderr
// when a place holds another file, or an option is not available; with 126 or 127 when COMMAND cannot be started.
int enter_main(int argc, char** argv);

// `cellgate can-guard` says on stdout whether names can be protected where it runs: "protected-names: yes", or why not.
int can_guard_main();

} // namespace cellgate::helper
