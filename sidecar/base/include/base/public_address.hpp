#pragma once
// what_is_not_public(), is_local_name() and is_loopback() separate the public network from all other addresses: those
// of this machine, of its neighbours, and reserved ones. Code in a sandbox reaches these only where a rule names the
// address itself, and a tool server has cellgate send no request to them.

#include "base/host.hpp"

#include <string_view>

namespace cellgate {

inline constexpr std::string_view this_machine = "this machine";
inline constexpr std::string_view private_network = "a private network";

// What an address is: "" when it is public, else "this machine", "a private network", "a cloud's metadata" …
// From the registries of special-purpose addresses (RFC 6890 and its successors); an address that carries an IPv4
// address (NAT64) is what that one is.
std::string_view what_is_not_public(const Host& address);

// Whether a name means this machine by definition (RFC 6761).
bool is_local_name(const Host& host);

// Whether it is localhost, 127.0.0.1 or ::1: one place by three names.
bool is_loopback(const Host& host);

} // namespace cellgate
