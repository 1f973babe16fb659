#include "egress/network.hpp"

#include "async/tcp.hpp"

namespace cellgate::egress {

namespace {

class SystemNetwork final : public Network {
  public:
    explicit SystemNetwork(async::Loop& loop) : loop_(loop) {}

    Task<std::vector<Host>> resolve(Host host) override { return async::resolve_host(loop_, std::move(host)); }
    Task<std::unique_ptr<async::SocketStream>> connect(Endpoint endpoint) override {
        return async::connect_tcp(loop_, std::move(endpoint));
    }

  private:
    async::Loop& loop_;
};

} // namespace

std::unique_ptr<Network> make_system_network(async::Loop& loop) {
    return std::make_unique<SystemNetwork>(loop);
}

} // namespace cellgate::egress
