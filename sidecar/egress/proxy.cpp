#include "egress/proxy.hpp"

#include "async/fd_reservation.hpp"
#include "async/stream.hpp"
#include "base/log.hpp"
#include "base/sync.hpp"
#include "proxy_connection.hpp"

#include <chrono>
#include <set>
#include <vector>

namespace cellgate::egress {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_connections = 64;
constexpr std::size_t descriptors_of_one = 2; // the client's, and the server's

} // namespace

// Its tasks point at it: run() has it as long as they live.
struct Proxy::Impl {
    Impl(async::Loop& loop, Clock& clock_, Network& network, gate::Gate& gate, ProxyOptions options)
        : clock(clock_), name(options.name), listener(loop, options.path),
          connector(clock, network, gate, std::move(options)) {}

    Clock& clock;
    std::string name;
    async::UnixListener listener;
    Connector connector;
    struct Connection {
        ProxyConnection* proxy_connection = nullptr;
        std::shared_ptr<CancelState> task;
        std::optional<async::FdReservation> reservation;
    };
    std::set<std::shared_ptr<Connection>> open;
    bool closing = false;
    Condition room_changed;
    TaskScope connections;

    static Task<void> stop(std::shared_ptr<Impl> self);
    Task<void> accept();
    Task<void> serve(std::unique_ptr<async::SocketStream> client, std::shared_ptr<Connection> connection);
    Task<void> remove(std::shared_ptr<Connection> connection);
    void close_all(const std::function<bool(const ProxyConnection&)>& which) const;
};

Task<void> Proxy::Impl::stop(std::shared_ptr<Impl> self) {
    self->listener.close();
    self->connections.cancel();
    co_await self->connections.join();
    co_await self->connector.close();
}

Task<void> Proxy::Impl::accept() {
    const auto has_room = [this] { return open.size() < max_connections || closing; };
    while (true) {
        co_await room_changed.until(has_room);
        bool failed = false;
        try {
            std::unique_ptr<async::SocketStream> client = co_await listener.accept();
            if (!client) {
                co_return;
            }
            const auto connection = std::make_shared<Connection>();
            connection->reservation = async::FdReservation::take(descriptors_of_one);
            if (!connection->reservation) { // one at a time: those that wait have no descriptor here
                ProxyConnection proxied(clock, connector, std::move(client));
                co_await proxied.run(false);
                continue;
            }
            open.insert(connection);
            connection->task = connections.spawn(serve(std::move(client), connection));
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            log_warning("{}: the way to the network: {}", name, error.message);
            failed = true;
        }
        if (failed) { // no descriptor left, most likely
            co_await sleep_for(clock, 100ms);
        }
    }
}

Task<void> Proxy::Impl::serve(std::unique_ptr<async::SocketStream> client, std::shared_ptr<Connection> connection) {
    ProxyConnection proxied(clock, connector, std::move(client));
    connection->proxy_connection = &proxied;
    co_await finally(proxied.run(true), remove(connection));
}

Task<void> Proxy::Impl::remove(std::shared_ptr<Connection> connection) {
    open.erase(connection);
    connection->reservation.reset();
    room_changed.notify();
    co_return;
}

void Proxy::Impl::close_all(const std::function<bool(const ProxyConnection&)>& which) const {
    std::vector<std::shared_ptr<CancelState>> found;
    for (const std::shared_ptr<Connection>& connection : open) {
        if (connection->proxy_connection != nullptr && which(*connection->proxy_connection)) {
            found.push_back(connection->task);
        }
    }
    for (const std::shared_ptr<CancelState>& task : found) {
        task->cancel();
    }
}

Proxy::Proxy(async::Loop& loop, Clock& clock, Network& network, gate::Gate& gate, ProxyOptions options)
    : impl_(std::make_shared<Impl>(loop, clock, network, gate, std::move(options))) {}

Proxy::~Proxy() {
    close();
}

Task<void> Proxy::run() {
    return finally(impl_->accept(), Impl::stop(impl_));
}

void Proxy::end_execution(const std::string& execution_id) {
    impl_->close_all(
        [&execution_id](const ProxyConnection& connection) { return connection.execution_id() == execution_id; });
}

void Proxy::close_all() {
    impl_->close_all([](const ProxyConnection&) { return true; });
}

void Proxy::close() {
    impl_->closing = true;
    impl_->listener.close();
    impl_->room_changed.notify();
}

} // namespace cellgate::egress
