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

// Waits until it ends, for at most ten seconds. It gets `descriptors` from number 3 on. The helper supervises it: it
// and all that it started end with this call, or with this process.
RunOutput run_program(std::vector<std::string> argv, const std::vector<UniqueFd>& descriptors);

} // namespace cellgate::sandbox
