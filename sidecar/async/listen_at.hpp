#pragma once
// listen_at() makes a listening socket for TCP. Private to the module.

#include "base/host.hpp"
#include "base/unique_fd.hpp"

#include <cstdint>

namespace cellgate::async {

// `endpoint` is an address and a port; 0: one that is free. Throws Error{internal_error} with errno's text.
UniqueFd listen_at(const Endpoint& endpoint);
// The port of a socket that listen_at() made.
std::uint16_t port_of(int fd);

} // namespace cellgate::async
