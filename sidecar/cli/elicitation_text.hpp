#pragma once
// `elicitation_text` is a question for or of a tool server as lines of a prompt, and what is typed as the value of a
// field.

#include "protocol/messages/policy.hpp"

#include <optional>
#include <string>

namespace cellgate::cli {

// Who asks, from where, and what.
std::string elicitation_heading(const protocol::Elicitation& elicitation, std::size_t columns);
// The field with its options, and what Enter takes.
std::string field_heading(const protocol::ElicitationField& field, std::size_t columns);

struct TypedValue {
    std::optional<std::string> json; // nothing: the field is left out
    std::string problem;             // why it cannot be taken; empty if it can
};
// An empty line takes the initial value, "-" leaves the field out.
TypedValue typed_value(const protocol::ElicitationField& field, const std::string& line);

} // namespace cellgate::cli
