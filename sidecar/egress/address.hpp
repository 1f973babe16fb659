#pragma once
// Which addresses belong to the public network. All others are of this machine, of its neighbours or of nobody: code in
// a sandbox reaches them only where a rule names the address itself.

#include "base/host.hpp"

#include <string_view>

namespace cellgate::egress {

// Of an address: "" when it is public, else what it is: "this machine", "a private network", "a cloud's metadata" …
// From the registries of special-purpose addresses (RFC 6890 and its successors); an address that carries an IPv4
// address (NAT64) is what that one is.
std::string_view what_is_not_public(const Host& address);

// Of a name: whether it stands for this machine by definition (RFC 6761).
bool is_local_name(const Host& host);

} // namespace cellgate::egress
