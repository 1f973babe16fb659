#pragma once
// `read_elicitation_field` reads a property of a requestedSchema: a text, a number, a yes or no, or a choice.

#include "base/json_value.hpp"
#include "protocol/messages/policy.hpp"

#include <string>

namespace cellgate::tools {

// All but `required`. Throws Error{invalid_params} for what MCP does not let a form have.
protocol::ElicitationField read_elicitation_field(const std::string& name, const JsonValue& schema);

} // namespace cellgate::tools
