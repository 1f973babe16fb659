#pragma once
// `interrupt_process` sends a signal to the kernel's own process. The started process is a supervisor, perhaps with a
// launcher, which would handle the signal themselves; the kernel is the first process below them.

namespace cellgate::jupyter {

// SIGINT to the kernel below `supervisor`. Does nothing if there is none.
void interrupt_process(int supervisor);

} // namespace cellgate::jupyter
