#pragma once
// Which hosts are reached by a rule that names them alone: those that are not of the public network. The proxy asks
// nobody about them, and an explanation has to say the same.

#include "base/host.hpp"
#include "protocol/messages/policy.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cellgate::egress {

// Why only a rule that names `host` can allow it, in words that call it `shown`. Nothing for what may be asked about.
// Of a name it is not known where it leads: that is judged when it has been looked up.
std::optional<std::string> needs_explicit_host_rule(const Host& host, std::string_view shown);

// What the gate's rules say of a connection to `host`, as the proxy takes it.
protocol::PolicyExplainResult taken_by_proxy(protocol::PolicyExplainResult said, const Host& host);

} // namespace cellgate::egress
