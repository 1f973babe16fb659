#pragma once
// `run_program` runs a program to read its output, as probes of this machine do.

#include "base/unique_fd.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

struct RunOutput {
    bool success = false;
    std::string out;
    std::string error;
};

// Waits until it ends, for at most ten seconds. It gets `descriptors` from number 3 on.
RunOutput run_program(std::vector<std::string> argv, const std::vector<UniqueFd>& descriptors);

} // namespace cellgate::sandbox
