#pragma once
// `cellgate confine HELPER FILTER GUARD_FILTER RULES NAMES [LIMIT=VALUE…] -- COMMAND…` is the entrance to a sandbox
// without namespaces, and its guard for as long as it lives. The first five arguments are numbers of descriptors: of
// this program itself; the filter for all processes in the sandbox, this one included; the filter that sends the
// command's calls to this process; the rules for files (file_rules.hpp); and the protected names (protected_names.hpp).
// Limits are those of `enter`.
//
// What holds: no capability and no new privileges; Landlock twice, a domain around all and one within it for the
// command, which by itself may read and execute what the rules show, and write nothing; and this process, which opens,
// makes, moves, removes and alters files in the command's place where the rules allow it, and connects its sockets.

namespace cellgate::helper {

// argv[0] is "confine". Ends as enter_main() does.
int confine_main(int argc, char** argv);

// `cellgate can-confine`, as that command: "confined: yes" on stdout, or what does not hold.
int can_confine_main();

} // namespace cellgate::helper
