#pragma once
// `Agent` is a client of role agent, on whose behalf an action is asked for.

#include <cstdint>
#include <optional>
#include <string>

namespace cellgate::gate {

struct Agent {
    std::uint64_t client = 0; // its number in the sidecar
    std::string name;         // as the client names itself, safe to show
};

// Nothing for a user.
inline std::optional<std::string> name_of(const std::optional<Agent>& agent) {
    return agent ? std::optional(agent->name) : std::nullopt;
}

} // namespace cellgate::gate
