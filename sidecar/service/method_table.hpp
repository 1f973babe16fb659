#pragma once
// What is for persons only, from schemas/methods.json: whole methods by their `roles`, and of others what `personOnly`
// names, a parameter or a value of one. The one place where roles are enforced on what a client says; what only its
// owner may touch is judged where the owner is known, by Client::refuse().

#include "base/raw_json.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cellgate::service {

extern const std::string_view methods_text; // schemas/methods.json, as it was when the sidecar was built

// Which part of the call an agent may not make, in words; nothing when it may. A method that the table does not have
// passes: the peer answers that it does not exist.
std::optional<std::string> what_is_for_persons(const std::string& method, const RawJson& params);

} // namespace cellgate::service
