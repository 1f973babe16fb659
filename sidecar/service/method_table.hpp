#pragma once
// `users_only_part` is the check of roles by schemas/methods.json: whole methods by their `roles`, and in others the
// parameters, or values of parameters, that `userOnly` names. The only place that enforces roles on requests;
// Client::refuse() is for objects that only their owner may use.

#include "base/raw_json.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cellgate::service {

extern const std::string_view methods_text; // schemas/methods.json, embedded at build time

// Describes the part of the call that an agent may not make; nothing if it may. A method that the table does not have
// passes: the peer answers that it does not exist.
std::optional<std::string> users_only_part(const std::string& method, const RawJson& params);

} // namespace cellgate::service
