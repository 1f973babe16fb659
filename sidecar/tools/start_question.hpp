#pragma once
// `start_question` asks the users what a tool server needs before it starts: a form of texts and choices.

#include "protocol/messages/policy.hpp"
#include "tools/call_context.hpp"
#include "tools/elicitor.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cellgate::tools {

inline constexpr std::size_t max_question_title = 200;

// `message` is escaped.
protocol::Elicitation start_question(const CallContext& context, const std::string& server, std::string message,
                                     std::vector<protocol::ElicitationField> fields);

// Values that fit the fields, without a NUL.
ValuesCheck check_of(std::vector<protocol::ElicitationField> fields);

} // namespace cellgate::tools
