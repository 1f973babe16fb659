#pragma once
// `cellgate sweep`, with a socket as stdin: hears of what its parent makes, and removes what is left of it when the
// parent lets go of it or has ended in any way. It removes nothing else, nothing of another user's and nothing that
// somebody holds locked, follows no link, and gives up after half a minute. What is in the folders may be a hostile
// kernel's.
//
// A message is one packet: '+' or '-' (made from now on, let go), 'f' or 'g' (a folder with all in it, a control
// group), an absolute path.

namespace cellgate::helper {

// Returns the exit code: 0, or 1 when something is still there.
int sweep_main();

} // namespace cellgate::helper
