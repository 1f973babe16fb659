#pragma once
// `Relays` are the ports of this machine's loopback that programs in a sandbox find at the same ports of the sandbox's
// own, on 127.0.0.1 and ::1: those of the allowed hosts that are loopback addresses with a port. The helper listens
// there and hands each connection to the proxy (helper/bridge.hpp), which decides it like any other.

#include <string>
#include <vector>

namespace cellgate::sandbox {

// For the kernel's bootstrap, which reports the lines that connect there: "5432 8000".
inline constexpr const char* relayed_ports_variable = "CELLGATE_RELAYED_PORTS";

struct Relays {
    std::vector<std::string> arguments; // of the helper: relay=4:5432:localhost
    std::string ports;                  // as in relayed_ports_variable
    std::vector<std::string> notices;   // ports that cannot be relayed, and why
};

// `hosts`: HostPatterns.
Relays relays_of(const std::vector<std::string>& hosts);

} // namespace cellgate::sandbox
