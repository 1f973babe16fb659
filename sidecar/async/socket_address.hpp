#pragma once
// `SocketAddress` is an address of IPv4 or IPv6 with its port, as system calls take it.

#include "base/host.hpp"

#include <sys/socket.h>

namespace cellgate::async {

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;
    const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// Throws Error{internal_error} for a name.
SocketAddress address_of(const Endpoint& endpoint);

} // namespace cellgate::async
