#pragma once
// `cellgate supervise CONTROL_FD -- COMMAND…`: runs COMMAND as a child, is the reaper of all its descendants, and ends every one of
// them when COMMAND has ended or when the other end of the control pipe has closed. Exits as COMMAND did. Plain POSIX,
// no loop: it must work when everything else is broken.

namespace cellgate::async {

// argv[0] is "supervise". Returns the exit code, or does not return (it dies by the signal that killed COMMAND).
int supervise_main(int argc, char** argv);

} // namespace cellgate::async
