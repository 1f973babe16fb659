#pragma once
// The answers that are offered with an approval, the narrowest first, each saying what it covers. Never one for
// everything; for requires_exact_payload() actions none beyond the exact payload. A label is one line: a choice that it cannot name
// in full is not offered.

#include "paths.hpp"
#include "payload.hpp"
#include "protocol/messages/policy.hpp"

#include <vector>

namespace cellgate::gate {

struct ChoiceContext {
    bool in_session = false;
    bool in_execution = false;
};

std::vector<protocol::Choice> choices_for(const Payload& payload, const ChoiceContext& context, PathSnapshot& paths);

} // namespace cellgate::gate
