#pragma once
// The network as the proxy needs it: the seam at which tests have one of their own.

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

// The machine's own.
std::unique_ptr<Network> make_system_network(async::Loop& loop);

} // namespace cellgate::egress
