#pragma once
// `cellgate enter [landlock] [bridge=PORT:SOCKET] [LIMIT=VALUE…] -- COMMAND…`: the first program in a sandbox. It
// compares the files that are mounted there with those that were meant, starts a bridge to the sidecar's proxy
// (bridge.hpp), limits itself (memory: bytes of each process; processes: processes and threads together; open-files: of
// each process; file-size: bytes of each file; cpu: seconds of each process; never a core dump), restricts itself by
// Landlock (landlock.hpp) if that is asked for, and becomes COMMAND. With a limit of processor time it starts COMMAND
// instead, waits, and ends as that did: by SIGXCPU when it was killed for going on beyond its time. What was meant
// stands in /.cellgate/places: a path and its "<device>:<inode>" for each, every text ended by a NUL; what Landlock
// lets be written in /.cellgate/writable: paths, each ended by a NUL.

namespace cellgate::helper {

// argv[0] is "enter". Returns 125 with a line on stderr when a place holds something else, or a limit or Landlock is
// refused, 126 or 127 when COMMAND cannot be started, and does not return otherwise.
int enter_main(int argc, char** argv);

} // namespace cellgate::helper
