#pragma once
// `janitor_main` is `cellgate janitor`, with a socket as stdin: its parent registers the paths that it creates, and the
// janitor removes those that still exist when the parent releases them or has ended in any way. It removes no other
// path, nothing of another user and nothing that is locked, follows no link, and stops after half a minute. The
// contents of the folders may come from a hostile kernel. A message is one packet: '+' or '-' (register, release), 'f'
// or 'g' (a folder with its contents, a control group), an absolute path.

namespace cellgate::helper {

// Returns the exit code: 0, or 1 when something is still there.
int janitor_main();

} // namespace cellgate::helper
