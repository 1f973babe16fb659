#pragma once
// `check_values` checks what was filled into the fields of a form.

#include "base/json_value.hpp"
#include "base/raw_json.hpp"
#include "protocol/messages/policy.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::tools {

// What is wrong with a value of the field; nothing if it fits.
std::optional<std::string> problem_of_value(const protocol::ElicitationField& field, const JsonValue& value);

// Throws Error{answer_invalid} for the first field whose value does not fit, and for what is no field.
void check_values(const std::vector<protocol::ElicitationField>& fields, const RawJson& values);

} // namespace cellgate::tools
