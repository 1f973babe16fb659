#pragma once
// `cellgate enter HELPER [lifeline=FD] [guard] [landlock] [bridge=PORT:SOCKET] [LIMIT=VALUE…] -- COMMAND…`: the first
// program in a sandbox, and its first process for as long as it lives (init.hpp). HELPER is a descriptor of this
// program, through which it was started, and which it closes. It compares the files that are mounted there with those
// that were meant, and starts COMMAND: guarded, if that is said, by the filter in /.cellgate/guard-filter, for the
// names in /.cellgate/guarded-names (protected_names.hpp); with a bridge to the sidecar's proxy (bridge.hpp); and with
// its limits (memory: bytes of each process; processes: processes and threads together; open-files: of each process;
// file-size: bytes of each file; cpu: seconds of each process; never a core dump). By Landlock (landlock.hpp), if that
// is said, both restrict themselves to writing what /.cellgate/writable names: paths, each ended by a NUL. What was
// meant stands in /.cellgate/places: a path and its "<device>:<inode>" for each, every text ended by a NUL.

namespace cellgate::helper {

// argv[0] is "enter". Ends as COMMAND did: 128 and the signal's number, if it was one. With 125 and a line on stderr
// when a place holds something else, or what was asked for cannot be had; with 126 or 127 when COMMAND cannot be
// started.
int enter_main(int argc, char** argv);

// `cellgate can-guard`: says on stdout whether names can be guarded where it runs: "guarded-names: yes", or why not.
int can_guard_main();

} // namespace cellgate::helper
