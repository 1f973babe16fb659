#pragma once
// `cellgate confine HELPER FILTER GUARD_FILTER RULES NAMES [LIMIT=VALUE…] -- COMMAND…`: the entrance to a sandbox
// without namespaces, and its guard for as long as it lives. The first five are numbers of descriptors that it was
// given: of itself; the filter that all in there is under, itself too; the filter by which it is asked about the
// command's calls; the rules for files (file_rules.hpp); and the names that are guarded (protected_names.hpp). Limits are
// those of `enter`.
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
