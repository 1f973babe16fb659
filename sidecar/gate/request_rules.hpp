#pragma once
// `match_request` judges the parts of a rule that are about requests of HTTP: its methods and paths. The others check
// them, put them in words, and name the secrets that it puts in.

#include "match.hpp"
#include "payload.hpp"
#include "protocol/messages/policy.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cellgate::gate {

// Throws Error{rule_invalid}.
void check_request_parts(const protocol::Rule& rule);

// Whether the rule's methods and paths hold for the action. A path that servers read differently (with "..", "//", a
// backslash, a ";", an encoded slash or dot) is `unclear`, and so is one that a pattern covers only when it is decoded,
// or when case or a last slash does not count.
Match match_request(const protocol::Rule& rule, const Payload::Names& names);

// " GET, HEAD /repos/**", " with ${secret:TOKEN} as bearer"; safe to show.
std::string request_words(const protocol::Rule& rule);

} // namespace cellgate::gate
