#pragma once
// needs_explicit_host_rule() and taken_by_proxy() are the policy for hosts that are not of the public network: only a
// rule that names the host allows them. The proxy asks no user about them, and `policy/explain` reports the same.

#include "base/host.hpp"
#include "protocol/messages/policy.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cellgate::egress {

// Why only a rule that names `host` can allow it, in a text that calls it `shown`; nothing when a user may be asked.
// The addresses of a name are unknown here: they are judged after the name was resolved.
std::optional<std::string> needs_explicit_host_rule(const Host& host, std::string_view shown);

// Adapts an explanation by the gate's rules to how the proxy treats a connection to `host`.
protocol::PolicyExplainResult taken_by_proxy(protocol::PolicyExplainResult said, const Host& host);

} // namespace cellgate::egress
