#pragma once
// `system_call_filter` refuses system calls in every sandbox: those that reach what no namespace holds apart (virtual
// machine sockets, keyrings), that change the machine, its mounts or namespaces, that leave something on the disk which
// runs with another's rights (set-user-id bits), or that honest code can do without and kernels had most of their flaws
// in. It lists what is refused, not what is allowed: it must never break a harmless program. Debuggers (ptrace,
// process_vm_readv …) work: a PID namespace bounds them. The filter adds to the namespaces and does not replace them.

#include "base/unique_fd.hpp"
#include "sandbox/build.hpp"

namespace cellgate::sandbox {

// The compiled filter, for bwrap's --seccomp (filters/system_call_rules.cpp has the rules). For the architecture that
// we are built for; programs of another one, which would number their calls otherwise, get an error for every call.
// With the machine's network there are no unix sockets but pairs: abstract ones (a desktop's bus, its display) belong
// to the network and would be in reach.
UniqueFd system_call_filter(Network network);

// The same for a runtime, which sets its sandbox up by mounts and namespaces.
UniqueFd runtime_system_call_filter();

} // namespace cellgate::sandbox
