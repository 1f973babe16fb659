#pragma once
// A program that is run to see what it says of this machine.

#include "sandbox/descriptor.hpp"
#include "base/unique_fd.hpp"

#include <string>
#include <vector>

namespace cellgate::sandbox {

struct RunOutput {
    bool success = false;
    std::string out;
    std::string error;
};

// To its end, or for ten seconds. `descriptors` are given to it from number 3 on.
RunOutput run_program(std::vector<std::string> argv, const std::vector<UniqueFd>& descriptors);

} // namespace cellgate::sandbox
