#pragma once
// `take_methods` and `take_injection` read what a typed rule about requests of HTTP has of its own: its methods, or the
// preset in their place, and the secret that it puts in. Both throw std::invalid_argument with what is wrong; the
// reader of the rule says where.

#include "protocol/messages/policy.hpp"

#include <string>
#include <string_view>

namespace cellgate::tools {

// "GET,HEAD", "read-only" or "git-fetch": what the rule is about besides the host. `rule.paths` has what follows.
void take_methods(protocol::RuleSpec& rule, std::string_view word);

// What an option such as "--bearer" says; `value` is what follows it. False: it is no option of this kind.
bool take_injection(protocol::Injection& injection, std::string_view option, std::string value);

} // namespace cellgate::tools
