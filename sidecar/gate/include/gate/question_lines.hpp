#pragma once
// question_lines() is what is to be read of an approval, where lines are shown as they are: `display`, and below it
// what has changed in the tool's definition.

#include "protocol/messages/policy.hpp"

#include <string>
#include <vector>

namespace cellgate::gate {

std::vector<std::string> question_lines(const protocol::Approval& approval);

} // namespace cellgate::gate
