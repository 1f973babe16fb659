#pragma once
// `ProxyConnection` is one connection out of a sandbox, from its first byte to its last. It speaks HTTP/1 as to a proxy
// (CONNECT, or one request with a whole URL) or SOCKS5. Its opening is read with a limit in time and size, the
// Connector decides about its destination, and its first bytes in a tunnel have to name the same host (Inspector). A
// connection carries one request: bytes behind it are not passed on. A connection to a host that is inspected becomes a
// RequestRelay.

#include "connector.hpp"
#include "inspector.hpp"
#include "request_relay.hpp"

#include <memory>
#include <string>

namespace cellgate::egress {

class ProxyConnection {
  public:
    ProxyConnection(Clock& clock, Connector& connector, std::unique_ptr<async::SocketStream> client);
    ProxyConnection(const ProxyConnection&) = delete;
    ProxyConnection& operator=(const ProxyConnection&) = delete;

    // Serves the connection to its end; without `room` for it, only answers with a refusal. Throws only Cancelled.
    Task<void> run(bool room);
    // The execution with which its permission ends; nothing before it is connected, or when a wider rule allows it.
    const std::optional<std::string>& execution_id() const { return relay_ ? relay_->execution_id() : execution_id_; }

  private:
    enum class Protocol { nothing, http, socks, tunnel };

    // Throws only Cancelled.
    Task<void> serve_or_refuse(bool room);
    Task<void> end();
    Task<void> serve();
    Task<void> read_caller_text();
    Task<void> serve_socks();
    Task<void> serve_http();
    Task<void> serve_connect(const RequestHead& head);
    // `text` is the head as it was sent.
    Task<void> serve_request(const RequestHead& head, std::string text);
    // Of a host whose requests are judged one by one. `granted` is the answer to a client whose connection is open.
    Task<void> serve_inspected(Endpoint endpoint, std::string granted, bool to_proxy);
    Task<void> end_tls(RelayedClient* client);
    // Opens a tunnel, or serves the requests in it.
    Task<void> serve_tunnel(Endpoint endpoint, std::string granted);
    // Waits for the first `size` bytes; throws Error{invalid_request} when they do not come.
    Task<void> need(std::size_t size);
    std::string take(std::size_t size);

    // `complete`: all that the client will say is there, so its end does not mean that it has gone.
    Task<std::unique_ptr<async::SocketStream>> upstream(Endpoint endpoint, bool complete);
    // What a user or a rule permits, unless the client goes first.
    Task<Upstream> while_client_stays(Task<Upstream> asking, bool complete);
    Task<void> resolve_with(std::shared_ptr<Deferred<Upstream>> outcome, Task<Upstream> asking);
    // For bytes of any kind, in place of the permission to connect. `why` they are not judged.
    Task<void> permit_raw(std::string why);
    Task<void> watch_client(std::shared_ptr<CancelState> connecting, bool complete);
    Task<void> stop_watching(std::shared_ptr<CancelState> watching);

    // Both directions until both have ended.
    Task<void> carry(std::unique_ptr<async::SocketStream> server, Inspector inspector);
    Task<void> carry_until_ended(async::SocketStream& server, Inspector& inspector, Event& down_ended);
    Task<void> end_carrying(async::SocketStream& server, std::shared_ptr<CancelState> down, Event& down_ended);
    Task<void> carry_up(async::SocketStream& server, Inspector& inspector);
    Task<void> carry_down(async::SocketStream& server, const Inspector& inspector, Event& ended);

    void refuse(const Error& error);
    // Closes the socket after the client has read its last bytes: closing a socket with unread input discards them.
    Task<void> drain_and_close();
    void limit_time(Duration limit);
    Task<void> abort_late(Duration limit);
    Task<void> abort_when_silent(async::SocketStream* server);

    Clock& clock_;
    Connector& connector_;
    std::unique_ptr<async::SocketStream> client_; // nullptr once the relay has it
    std::unique_ptr<RequestRelay> relay_;         // of a host that is inspected
    std::string in_;                              // what was read of the client and not looked at
    ConnectionSource source_;
    Protocol protocol_ = Protocol::nothing;
    bool one_request_ = false;
    bool tls_ = false;     // in the tunnel
    bool raw_ = false;     // it was asked for bytes of any kind
    bool refused_ = false; // what it says in the tunnel
    std::optional<Endpoint> endpoint_;
    std::optional<std::string> execution_id_;
    gate::OutcomeReport outcome_;
    std::optional<std::string> refusal_; // why it ended early
    std::int64_t sent_ = 0;              // bytes to the server
    std::int64_t received_ = 0;
    std::shared_ptr<CancelState> limit_;
    std::shared_ptr<CancelState> silence_; // once the client says nothing more
    bool server_spoke_ = false;
    Event watched_;
    TaskScope tasks_;
};

} // namespace cellgate::egress
