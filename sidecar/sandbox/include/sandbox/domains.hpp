#pragma once
// `check_domain` and `domain_covers` are the meaning of the entries in a settings file's lists of hosts: patterns as
// rules have them (base/host.hpp), and `*`, every host, in a list of denied hosts.

#include "base/host.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::sandbox {

enum class DomainList { allowed, denied };

inline constexpr std::string_view every_host = "*";

// The entry in its one spelling. Throws Error{config_invalid} without the place of the entry.
std::string check_domain(std::string_view text, DomainList list);

// What somebody asks about: for a port, or for all.
struct HostQuery {
    Host host;
    std::optional<std::uint16_t> port;
};
// "example.org", "example.org:443", "[::1]:80"; nothing for what is no host.
std::optional<HostQuery> parse_host_query(std::string_view text);

// `entry` is one that check_domain() gave. One with a port covers that port only, and no query for all.
bool domain_covers(std::string_view entry, const HostQuery& query);

} // namespace cellgate::sandbox
