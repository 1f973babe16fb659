#pragma once
// secrets_of() are the secrets that a rule puts into requests, and with_values() is what it puts there.

#include "protocol/messages/policy.hpp"

#include <map>
#include <string>
#include <vector>

namespace cellgate::gate {

// The names in the value of an injection, in order, each once.
std::vector<std::string> secrets_of(const protocol::Injection& injection);

// The value of the injection, with those of its secrets. All are in `values`.
std::string with_values(const protocol::Injection& injection, const std::map<std::string, std::string>& values);

} // namespace cellgate::gate
