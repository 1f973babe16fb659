#pragma once
// secrets_of() are the secrets that a rule puts into requests, with_values() is what it puts there, and
// placeholders_of() are the variables in which code finds something in their place.

#include "protocol/messages/policy.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::gate {

// The names in the value of an injection, in order, each once.
std::vector<std::string> secrets_of(const protocol::Injection& injection);

// The value of an injection, or a part of it, with those of its secrets. All are in `values`.
std::string with_values(std::string_view value, const std::map<std::string, std::string>& values);

// What the colons outside of ${secret:NAME} separate: USER:PASSWORD, the keys of AWS.
std::vector<std::string> colon_parts(std::string_view value);

struct PlaceholderVariable {
    std::string name;
    std::vector<std::string> secrets; // for which it stands
};
std::vector<PlaceholderVariable> placeholders_of(const protocol::Injection& injection);

} // namespace cellgate::gate
