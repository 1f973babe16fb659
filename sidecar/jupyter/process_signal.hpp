#pragma once
// A signal to the kernel's own process. What was started is a supervisor and perhaps a launcher, which would take the
// signal for themselves; the kernel is the first process below them.

namespace cellgate::jupyter {

// SIGINT to the kernel below `supervisor`. Nothing happens when there is none.
void interrupt_process(int supervisor);

} // namespace cellgate::jupyter
