#pragma once
// `select_kernel` finds the kernel that a session starts, and asks the gate if the workspace decides which one that is.

#include "jupyter/kernel_choice.hpp"
#include "session/session_options.hpp"

namespace cellgate::session {

// Throws Error{kernel_not_found}, and Error{denied} if a workspace's kernel is not allowed. The arguments must outlive
// the task.
Task<jupyter::KernelChoice> select_kernel(SessionServices& services, const SessionOptions& options);

} // namespace cellgate::session
