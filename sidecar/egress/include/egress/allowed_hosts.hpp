#pragma once
// allowed_hosts() are the hosts that rules name to allow or inspect what one sandbox sends them. They are for what is
// prepared before its start, and decide nothing: the gate judges each connection, by more than the host.

#include "gate/gate.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::egress {

// Whose sandbox it is: a session's or a tool server's.
struct SandboxOwner {
    std::optional<std::string> session_id;
    std::optional<std::string> server;
};

// As HostPatterns (base/host.hpp). None while a stored policy cannot be read: everything is denied then.
std::vector<std::string> allowed_hosts(gate::Gate& gate, const SandboxOwner& owner);

} // namespace cellgate::egress
