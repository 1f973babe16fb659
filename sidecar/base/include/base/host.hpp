#pragma once
// Hosts of the network as programs name them, in the one spelling in which they are compared, and the patterns that
// rules and settings hold. What a resolver might read in several ways ("0x7f000001", "127.1", "010.0.0.1", a zone, a
// user before an @) is no host here.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate {

struct Host {
    std::string name;        // "example.org", "192.0.2.1", "2001:db8::1": lower case, no last dot, no brackets
    bool is_address = false; // of IPv4 or IPv6; ::ffff:192.0.2.1 is 192.0.2.1

    bool operator==(const Host&) const = default;
};

// "Example.ORG." is example.org. Names are ASCII (an international one is written xn--…). An IPv6 address may stand in
// brackets. Nothing for what is not plainly a host.
std::optional<Host> parse_host(std::string_view text);

struct Endpoint {
    Host host;
    std::uint16_t port = 0;

    bool operator==(const Endpoint&) const = default;
};

// "example.org:443", "[2001:db8::1]:443". Without a port, `standard_port`, or nothing if there is none.
std::optional<Endpoint> parse_endpoint(std::string_view text, std::optional<std::uint16_t> standard_port);
// As a URL writes it.
std::string to_string(const Endpoint& endpoint);

// "example.org": this host; "*.example.org": the hosts below it, and not itself; with ":443" at that port alone.
struct HostPattern {
    Host host;
    bool below = false;
    std::optional<std::uint16_t> port;
};

// Nothing for what is no pattern, and for one that would cover a whole top-level domain ("*.org", "*").
std::optional<HostPattern> parse_host_pattern(std::string_view text);
bool covers(const HostPattern& pattern, const Endpoint& endpoint);

} // namespace cellgate
