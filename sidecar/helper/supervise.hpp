#pragma once
// `cellgate supervise CONTROL_FD [KEPT_FD…] [--group FOLDER]… -- COMMAND…` runs COMMAND as a child in a session of its
// own and in these control groups, is the reaper of all its descendants, and ends every one of them when COMMAND has
// ended or when the other end of the control pipe has closed. COMMAND gets stdio and the kept descriptors, nothing
// else. SIGTERM, SIGINT, SIGHUP and SIGQUIT are passed on to it; when the supervisor is killed, so is COMMAND. Exits as
// COMMAND did; with 127 and a line on stderr when it cannot be started, or not in its groups. Plain POSIX, no loop: it
// must work when everything else is broken.

namespace cellgate::helper {

// argv[0] is "supervise". Returns the exit code, or does not return (it dies by the signal that killed COMMAND).
int supervise_main(int argc, char** argv);

} // namespace cellgate::helper
