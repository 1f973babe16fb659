#pragma once
// `ElicitationForm` is the form that a tool server asks a user to fill in: the fields of its requestedSchema, safe to
// show, and the check of what is filled in. MCP has flat forms only, and none that asks for a secret.

#include "base/raw_json.hpp"
#include "protocol/messages/policy.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::tools {

class ElicitationForm {
  public:
    // Throws Error{invalid_params} for a schema that is none of a form.
    explicit ElicitationForm(const RawJson& requested_schema);

    const std::vector<protocol::ElicitationField>& fields() const { return fields_; }
    // The title of the first field that asks for a secret, by its name or title.
    std::optional<std::string> secret() const;
    // What the server receives for these values; without any, the initial ones. Throws Error{answer_invalid}, which
    // names the field.
    RawJson content(const std::optional<RawJson>& values) const;

  private:
    std::vector<protocol::ElicitationField> fields_;
};

// Whether a field of this name is for a password, a token or the like.
bool names_secret(const std::string& name);

} // namespace cellgate::tools
