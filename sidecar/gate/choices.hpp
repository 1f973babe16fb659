#pragma once
// choices_for() makes the answers that an approval offers, the narrowest first; each label describes what the choice
// covers. No choice covers everything, and for requires_exact_payload() actions none covers more than the exact
// payload. A label is one line: a choice that it cannot name in full is not offered.

#include "gate/api_document.hpp"
#include "paths.hpp"
#include "payload.hpp"
#include "protocol/messages/policy.hpp"

#include <vector>

namespace cellgate::gate {

struct ChoiceContext {
    bool in_session = false;
    bool in_execution = false;
    const ApiOperation* operation = nullptr; // of a request, where it is known
};

std::vector<protocol::Choice> choices_for(const Payload& payload, const ChoiceContext& context, PathSnapshot& paths);

} // namespace cellgate::gate
