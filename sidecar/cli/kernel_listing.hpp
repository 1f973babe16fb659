#pragma once
// `installed_kernels` finds the kernels that a session in a workspace can run; `kernel_entry` is the text of one, as
// `cellgate kernels` prints it.

#include "jupyter/kernel_choice.hpp"

#include <string>
#include <vector>

namespace cellgate::cli {

// Runs a loop of its own until all are found.
std::vector<jupyter::KernelInfo> installed_kernels(const std::string& workspace);

// Its name, and lines that describe it, each with a line break at its end.
std::string kernel_entry(const jupyter::KernelInfo& kernel);

} // namespace cellgate::cli
