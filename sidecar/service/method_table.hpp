#pragma once
// Who may call which method, from schemas/methods.json: the one place where roles are enforced.

#include "protocol/messages/lifecycle.hpp"

#include <string>
#include <string_view>

namespace cellgate::service {

extern const std::string_view methods_text; // schemas/methods.json, as it was when the sidecar was built

// Throws Error{forbidden} when clients of that role may not call the method. A method that the table does not have
// passes: the peer answers that it does not exist.
void require_role(const std::string& method, protocol::Role role);

} // namespace cellgate::service
