#pragma once
// `select_kernel` finds the kernel that a session starts, and asks the gate if the workspace decides which one that is.

#include "gate/record_sink.hpp"
#include "jupyter/kernel_choice.hpp"
#include "session/session_options.hpp"

namespace cellgate::session {

struct SelectedKernel {
    jupyter::KernelChoice choice;
    gate::OutcomeReport outcome; // of its start, if that was asked about
};

// Error{kernel_not_found} with what to add to the image.
Error no_ipykernel_in_image(const sandbox::Image& image, const std::string& executable);

// That of the session's image, if it has one. Throws Error{kernel_not_found}, and Error{denied} if a workspace's kernel
// is not allowed, or may not be asked about. The arguments must outlive the task.
Task<SelectedKernel> select_kernel(SessionServices& services, const SessionOptions& options, bool may_ask);

} // namespace cellgate::session
