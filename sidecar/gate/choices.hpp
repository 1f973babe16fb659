#pragma once
// The answers that are offered with an approval, the narrowest first, each saying what it covers. Never one for
// everything; for exact_only() actions none beyond the exact payload.

#include "payload.hpp"
#include "protocol/messages/policy.hpp"

#include <string>
#include <vector>

namespace cellgate::gate {

struct ChoiceContext {
    bool in_session = false;
    bool in_execution = false;
    std::string root;
};

std::vector<protocol::Choice> choices_for(const Payload& payload, const ChoiceContext& context);

} // namespace cellgate::gate
