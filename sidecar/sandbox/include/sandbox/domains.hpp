#pragma once
// The entries of a settings file's lists of hosts: `example.org`, `*.example.org` (every name below it, not itself), an
// address (IPv6 in brackets), each with `:port` or for all ports; `*`, every host, in a list of what is denied.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::sandbox {

enum class DomainList { allowed, denied };

// The entry in lower case. Throws Error{config_invalid} without saying where it stands.
std::string check_domain(std::string_view text, DomainList list);

struct HostAndPort {
    std::string host; // in lower case, without the last dot; IPv6 in brackets
    std::optional<std::uint16_t> port;
};
// "example.org", "example.org:443", "[::1]:80"; nothing for what is no host.
std::optional<HostAndPort> parse_host(std::string_view text);

// `entry` is one that check_domain() gave. One with a port covers that port only, and no host whose port is not known.
bool domain_covers(std::string_view entry, const HostAndPort& host);

} // namespace cellgate::sandbox
