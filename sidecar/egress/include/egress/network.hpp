#pragma once
// `Network` is the interface through which the proxy resolves names and connects. Tests replace it.

#include "async/loop.hpp"
#include "async/stream.hpp"
#include "base/host.hpp"

#include <memory>
#include <vector>

namespace cellgate::egress {

struct Network {
    virtual ~Network() = default;
    // As async::resolve_host().
    virtual Task<std::vector<Host>> resolve(Host host) = 0;
    // As async::connect_tcp().
    virtual Task<std::unique_ptr<async::SocketStream>> connect(Endpoint endpoint) = 0;
};

// The machine's network.
std::unique_ptr<Network> make_system_network(async::Loop& loop);

} // namespace cellgate::egress
