#pragma once
// `Host` is a network host in canonical spelling, the only form in which hosts are compared; `HostPattern` is the
// pattern of a rule or a setting. Text that resolvers may read in several ways ("0x7f000001", "127.1", "010.0.0.1", a
// zone, a user before an @) is not a host here.

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

// "Example.ORG." is example.org. Names are ASCII (an international one is written xn--…). An IPv6 address may be in
// brackets. Nothing for any other text.
std::optional<Host> parse_host(std::string_view text);

struct Endpoint {
    Host host;
    std::uint16_t port = 0;

    bool operator==(const Endpoint&) const = default;
};

// "example.org:443", "[2001:db8::1]:443". Without a port, `standard_port`, or nothing if there is none.
std::optional<Endpoint> parse_endpoint(std::string_view text, std::optional<std::uint16_t> standard_port);
// In the form used in URLs.
std::string to_string(const Endpoint& endpoint);

// "example.org": this host; "*.example.org": its subdomains, without itself; ":443" limits it to that port.
struct HostPattern {
    Host host;
    bool below = false;
    std::optional<std::uint16_t> port;
};

// Nothing for text that is not a pattern, and for a pattern that covers a whole top-level domain ("*.org", "*").
std::optional<HostPattern> parse_host_pattern(std::string_view text);
// Before a pattern in a list of hosts: connections to it that speak any protocol, not only TLS and HTTP.
inline constexpr std::string_view any_protocol = "tcp://";
bool covers(const HostPattern& pattern, const Endpoint& endpoint);

} // namespace cellgate
