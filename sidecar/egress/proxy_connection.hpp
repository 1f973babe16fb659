#pragma once
// One connection out of a sandbox, from its first byte to its last. It may speak HTTP/1 as to a proxy (CONNECT, or one
// request with a whole URL) or SOCKS5; what it says first is read with a limit in time and size, where it wants to go
// is the Connector's to allow, and what it says there first has to name the same host (Inspector). One request is one
// connection: what comes behind it is not passed on.

#include "inspector.hpp"
#include "connector.hpp"

#include <memory>
#include <string>

namespace cellgate::egress {

class ProxyConnection {
  public:
    ProxyConnection(Clock& clock, Connector& connector, std::unique_ptr<async::SocketStream> client);
    ProxyConnection(const ProxyConnection&) = delete;
    ProxyConnection& operator=(const ProxyConnection&) = delete;

    // To the end of the connection, in which nothing is asked for when there is no `room` for it. Throws Cancelled
    // only.
    Task<void> run(bool room);
    // The execution with which its permission ends; nothing before it is connected, or when a wider rule allows it.
    const std::optional<std::string>& execution_id() const { return execution_id_; }

  private:
    enum class Protocol { nothing, http, socks, tunnel };

    Task<void> serve();
    Task<void> read_caller_text();
    Task<void> serve_socks();
    Task<void> serve_http();
    Task<void> serve_connect(const RequestHead& head);
    Task<void> serve_request(const RequestHead& head);
    // Waits for the first `size` bytes; throws Error{invalid_request} when they do not come.
    Task<void> need(std::size_t size);
    std::string take(std::size_t size);

    // `complete`: all that the client will say is there, so its end does not mean that it has gone.
    Task<std::unique_ptr<async::SocketStream>> upstream(Endpoint endpoint, bool complete);
    Task<void> route_into(std::shared_ptr<Deferred<Upstream>> outcome, Endpoint endpoint);
    Task<void> watch_client(std::shared_ptr<CancelState> routing, bool complete);

    // Both directions until both have ended.
    Task<void> carry(std::unique_ptr<async::SocketStream> server, Inspector inspector);
    Task<void> carry_up(async::SocketStream& server, Inspector& inspector);
    Task<void> carry_down(async::SocketStream& server, const Inspector& inspector, Event& ended);

    void refuse(const Error& error);
    // Sees to it that what was said last is read: a socket that is closed with something unread takes it back.
    Task<void> part();
    void limit_time(Duration limit);
    Task<void> hang_up_late(Duration limit);
    Task<void> hang_up_when_silent(async::SocketStream* server);

    Clock& clock_;
    Connector& router_;
    std::unique_ptr<async::SocketStream> client_;
    std::string in_; // what was read of the client and not looked at
    ConnectionSource source_;
    Protocol speaks_ = Protocol::nothing;
    bool one_request_ = false;
    bool tls_ = false;     // in the tunnel
    bool refused_ = false; // what it says in the tunnel
    std::optional<Endpoint> endpoint_;
    std::optional<std::string> execution_id_;
    std::shared_ptr<CancelState> limit_;
    bool server_spoke_ = false;
    Event watched_;
    TaskScope tasks_;
};

} // namespace cellgate::egress
