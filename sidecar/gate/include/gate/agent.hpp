#pragma once
// The agent on whose behalf something is asked: a client of role agent.

#include <cstdint>
#include <string>

namespace cellgate::gate {

struct Agent {
    std::uint64_t client = 0; // its number in the sidecar
    std::string name;         // as it calls itself, made safe to show
};

} // namespace cellgate::gate
