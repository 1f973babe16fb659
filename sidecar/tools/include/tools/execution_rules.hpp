#pragma once
// `execution_rules` are the rules that would allow again what an execution was allowed: for each tool, host and kind of
// request one, in the short form that parse_rule() reads. What only its exact payload allows has none: starting a
// program, an install, and what `host` writes or runs.

#include "protocol/messages/policy.hpp"

#include <string>
#include <vector>

namespace cellgate::tools {

// Sorted, each once.
std::vector<std::string> execution_rules(const std::vector<protocol::PastDecision>& decisions,
                                         const std::string& execution_id);

} // namespace cellgate::tools
