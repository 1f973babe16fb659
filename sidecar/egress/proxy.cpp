#include "egress/proxy.hpp"

#include "async/descriptor_share.hpp"
#include "async/stream.hpp"
#include "base/log.hpp"
#include "visit.hpp"

#include <chrono>
#include <set>
#include <vector>

namespace cellgate::egress {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_connections = 64;
constexpr std::size_t descriptors_of_one = 2; // the client's, and the server's

} // namespace

// Its tasks point at it: run() has it as long as they live.
struct Proxy::Impl {
    Impl(async::Loop& loop, Clock& clock_, Network& network, gate::Gate& gate, ProxyOptions options)
        : clock(clock_), name(options.name), listener(loop, options.path),
          router(clock, network, gate, std::move(options)) {}

    Clock& clock;
    std::string name;
    async::UnixListener listener;
    Router router;
    struct Connection {
        Visit* visit = nullptr;
        std::shared_ptr<CancelState> task;
        std::optional<async::DescriptorShare> share;
    };
    std::set<std::shared_ptr<Connection>> open;
    bool closing = false;
    Event connection_ended;
    TaskScope connections;

    static Task<void> run(std::shared_ptr<Impl> self);
    Task<void> accept();
    Task<void> serve(std::unique_ptr<async::SocketStream> client, std::shared_ptr<Connection> connection);
    void hang_up(const std::function<bool(const Visit&)>& which) const;
};

Task<void> Proxy::Impl::run(std::shared_ptr<Impl> self) {
    std::exception_ptr cancelled;
    try {
        co_await self->accept();
    } catch (const Cancelled&) {
        cancelled = std::current_exception();
    }
    self->listener.close();
    self->connections.cancel();
    co_await shielded(self->connections.join());
    co_await shielded(self->router.close());
    if (cancelled) {
        std::rethrow_exception(cancelled);
    }
}

Task<void> Proxy::Impl::accept() {
    while (true) {
        while (open.size() >= most_connections && !closing) {
            connection_ended.reset();
            co_await connection_ended.wait();
        }
        bool failed = false;
        try {
            std::unique_ptr<async::SocketStream> client = co_await listener.accept();
            if (!client) {
                co_return;
            }
            const auto connection = std::make_shared<Connection>();
            connection->share = async::DescriptorShare::take(descriptors_of_one);
            if (!connection->share) { // one at a time: those that wait have no descriptor here
                Visit visit(clock, router, std::move(client));
                co_await visit.run(false);
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
    Visit visit(clock, router, std::move(client));
    connection->visit = &visit;
    std::exception_ptr cancelled;
    try {
        co_await visit.run(true);
    } catch (const Cancelled&) {
        cancelled = std::current_exception();
    }
    open.erase(connection);
    connection->share.reset();
    connection_ended.set();
    if (cancelled) {
        std::rethrow_exception(cancelled);
    }
}

void Proxy::Impl::hang_up(const std::function<bool(const Visit&)>& which) const {
    std::vector<std::shared_ptr<CancelState>> found;
    for (const std::shared_ptr<Connection>& connection : open) {
        if (connection->visit != nullptr && which(*connection->visit)) {
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
    return Impl::run(impl_);
}

void Proxy::end_execution(const std::string& execution_id) {
    impl_->hang_up([&execution_id](const Visit& visit) { return visit.execution_id() == execution_id; });
}

void Proxy::hang_up() {
    impl_->hang_up([](const Visit&) { return true; });
}

void Proxy::close() {
    impl_->closing = true;
    impl_->listener.close();
    impl_->connection_ended.set();
}

} // namespace cellgate::egress
