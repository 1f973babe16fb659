#pragma once
// `SessionRule` is a rule that a session begins with: of a user's settings, or of a saved tool.

#include "protocol/messages/policy.hpp"

#include <optional>
#include <string>

namespace cellgate::gate {

struct SessionRule {
    protocol::RuleSpec spec;
    std::optional<std::string> server_identity = {}; // of the only tool server that it counts for
};

} // namespace cellgate::gate
