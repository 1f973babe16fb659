#pragma once
// `Python` is the Python of a kernel, as an install needs it.

#include "jupyter/kernel_choice.hpp"
#include "sandbox/image.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::packages {

struct Python {
    std::string executable;
    std::string version;              // "3.11", "3.11.2"
    std::vector<std::string> folders; // that have to be visible for it to run
    // In which it is; nothing is installed for it. nullptr: it is the machine's.
    std::shared_ptr<const sandbox::Image> image = {};
};

// Nothing for a kernel that is not ipykernel.
std::optional<Python> python_of(const jupyter::KernelChoice& choice);

} // namespace cellgate::packages
