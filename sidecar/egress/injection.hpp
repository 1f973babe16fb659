#pragma once
// inject() puts the secrets that rules name into a request. Neither the code nor the user sees the values.

#include "http_head.hpp"
#include "protocol/messages/policy.hpp"

#include <map>
#include <string>
#include <vector>

namespace cellgate::egress {

// The names of all secrets in them, sorted, each once.
std::vector<std::string> secret_names(const std::vector<protocol::Injection>& injections);

// Removes what the code sent in the places of the injections.
void clear_places(RequestHead& head, const std::vector<protocol::Injection>& injections);

// The places were cleared. `values`: of all their secrets, by name. Throws Error{denied} for a value that no
// header can have.
void inject(RequestHead& head, const std::vector<protocol::Injection>& injections,
            const std::map<std::string, std::string>& values);

} // namespace cellgate::egress
