#pragma once
// `execution_rules` are the rules that would allow again what an execution was allowed: for each tool, host and kind of
// request one, in the short form that parse_rule() reads. What only its exact payload allows has none: starting a
// program, an install, and what `host` writes or runs.

#include "base/task.hpp"
#include "protocol/messages/policy.hpp"

#include <functional>
#include <string>
#include <vector>

namespace cellgate::tools {

// Sorted, each once. `allowed`: of one execution.
std::vector<std::string> execution_rules(const std::vector<protocol::Action>& allowed);

// Those of an execution that the workspace's record knows. Throws Error{execution_not_found}.
using RecordedRules = std::function<Task<std::vector<std::string>>(std::string execution_id)>;

} // namespace cellgate::tools
