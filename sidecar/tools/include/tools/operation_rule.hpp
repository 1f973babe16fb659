#pragma once
// `name_operation` makes a rule about requests one of an operation that an OpenAPI document names: it gets the method
// and the path of the operation. Conditions on parameters of the path go into the path, the others are on the body.

#include "gate/api_document.hpp"
#include "protocol/messages/policy.hpp"

#include <string>

namespace cellgate::tools {

// `rule` is of kind request, and has neither methods nor paths. Throws Error{rule_invalid}: no such operation, no such
// parameter or field of the body, a value that cannot be there.
void name_operation(protocol::RuleSpec& rule, const gate::ApiDocument& document, const std::string& id);

} // namespace cellgate::tools
