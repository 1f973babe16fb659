#pragma once
// The agent on whose behalf something is asked: a client of role agent.

#include <cstdint>
#include <optional>
#include <string>

namespace cellgate::gate {

struct Agent {
    std::uint64_t client = 0; // its number in the sidecar
    std::string name;         // as it calls itself, made safe to show
};

// Nothing for a user.
inline std::optional<std::string> name_of(const std::optional<Agent>& agent) {
    return agent ? std::optional(agent->name) : std::nullopt;
}

} // namespace cellgate::gate
