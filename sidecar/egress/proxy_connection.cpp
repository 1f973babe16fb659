#include "proxy_connection.hpp"

#include "async/fd_reservation.hpp"
#include "base/escape_unprintable.hpp"
#include "base/sync.hpp"
#include "http_answer.hpp"
#include "response_mark.hpp"
#include "socks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace cellgate::egress {

namespace {

constexpr Duration head_limit = std::chrono::seconds(30);
constexpr Duration parting_limit = std::chrono::seconds(3);
constexpr Duration silence_limit = std::chrono::seconds(60);     // of a server whose client says nothing more
constexpr std::size_t max_early_bytes = std::size_t{256} << 10;  // of a client that does not wait to be connected
constexpr std::size_t max_unsent_bytes = std::size_t{256} << 10; // of one direction, before it waits
constexpr std::size_t max_reason_bytes = 300;

// A fatal alert (RFC 8446), which every TLS client understands at any time.
constexpr std::string_view tls_access_denied{"\x15\x03\x03\x00\x02\x02\x31", 7};

struct Target {
    Endpoint endpoint;
    std::string path;
};

// Of an absolute URL of the scheme http.
std::optional<Target> parse_target(std::string_view url) {
    constexpr std::string_view scheme = "http://";
    constexpr std::uint16_t http_port = 80;
    if (url.size() < scheme.size() || !std::equal(scheme.begin(), scheme.end(), url.begin(),
                                                  [](char a, char b) { return a == b || (a ^ ' ') == b; })) {
        return std::nullopt;
    }
    url.remove_prefix(scheme.size());
    const std::size_t end = std::min(url.find_first_of("/?"), url.size());
    std::optional<Endpoint> endpoint = parse_endpoint(url.substr(0, end), http_port);
    if (!endpoint) {
        return std::nullopt;
    }
    std::string path(url.substr(end));
    if (!path.starts_with('/')) {
        path.insert(path.begin(), '/');
    }
    return Target{std::move(*endpoint), std::move(path)};
}

} // namespace

ProxyConnection::ProxyConnection(Clock& clock, Connector& connector, std::unique_ptr<async::SocketStream> client)
    : clock_(clock), connector_(connector), client_(std::move(client)) {}

Task<void> ProxyConnection::run(bool room) {
    limit_time(head_limit);
    co_await finally(serve_or_refuse(room), end());
}

Task<void> ProxyConnection::serve_or_refuse(bool room) {
    try {
        try {
            if (room) {
                co_await serve();
            } else { // most speak HTTP, and what it wants is not waited for
                client_->write(http_answer(service_unavailable, async::no_descriptor_left));
            }
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            refuse(error);
        }
        if (client_) {
            co_await drain_and_close();
        }
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        // The client has gone.
    }
}

Task<void> ProxyConnection::end() {
    outcome_.carried(sent_, received_);
    if (refusal_) {
        outcome_.failed(*refusal_);
    } else {
        outcome_.succeeded(); // either side may end it as it likes
    }
    if (client_) {
        client_->abort();
    }
    tasks_.cancel();
    co_await tasks_.join();
}

Task<void> ProxyConnection::drain_and_close() {
    limit_time(parting_limit);
    client_->close_output();
    co_await client_->drained(0);
    std::string ignored = co_await client_->read();
    while (!ignored.empty()) {
        ignored = co_await client_->read();
    }
}

void ProxyConnection::limit_time(Duration limit) {
    if (limit_) {
        limit_->cancel();
    }
    limit_ = tasks_.spawn(abort_late(limit));
}

Task<void> ProxyConnection::abort_late(Duration limit) {
    co_await sleep_for(clock_, limit);
    if (client_) {
        client_->abort();
    }
}

Task<void> ProxyConnection::serve() {
    co_await read_caller_text();
    co_await need(1);
    if (in_.front() == socks_version) {
        protocol_ = Protocol::socks;
        co_await serve_socks();
    } else {
        protocol_ = Protocol::http;
        co_await serve_http();
    }
}

Task<void> ProxyConnection::read_caller_text() {
    co_await need(1);
    if (in_.front() != '\0') {
        co_return;
    }
    constexpr std::size_t head = 2;
    co_await need(head);
    const std::size_t size = static_cast<unsigned char>(in_[1]);
    co_await need(head + size);
    source_ = read_source(take(head + size).substr(head));
}

Task<void> ProxyConnection::need(std::size_t size) {
    while (in_.size() < size) {
        const std::string bytes = co_await client_->read();
        if (bytes.empty()) {
            throw Error(ErrorCode::invalid_request, "the connection ended before its request was complete");
        }
        in_ += bytes;
    }
}

std::string ProxyConnection::take(std::size_t size) {
    std::string taken = in_.substr(0, size);
    in_.erase(0, size);
    return taken;
}

Task<void> ProxyConnection::serve_socks() {
    std::optional<std::size_t> greeting = socks_greeting_size(in_);
    while (!greeting) {
        co_await need(in_.size() + 1);
        greeting = socks_greeting_size(in_);
    }
    const bool offered = offers_no_password(take(*greeting));
    client_->write(std::string(offered ? socks_no_password : socks_no_method));
    if (!offered) {
        co_return;
    }
    std::optional<SocksRequest> request = read_socks_request(in_);
    while (!request) {
        co_await need(in_.size() + 1);
        request = read_socks_request(in_);
    }
    if (request->refusal) {
        client_->write(to_bytes(*request->refusal));
        co_return;
    }
    take(request->size);
    Endpoint endpoint = *request->endpoint;
    std::string granted = to_bytes(SocksReply::connected);
    co_await serve_tunnel(std::move(endpoint), std::move(granted));
}

Task<void> ProxyConnection::serve_tunnel(Endpoint endpoint, std::string granted) {
    const bool distrusted = connector_.is_distrusted(endpoint, source_);
    if (connector_.inspects(endpoint, source_) && !distrusted) {
        co_await serve_inspected(std::move(endpoint), std::move(granted), false);
        co_return;
    }
    std::unique_ptr<async::SocketStream> server = co_await upstream(endpoint, false);
    if (connector_.inspects(endpoint, source_) && distrusted) {
        co_await permit_raw("a rule has requests to this host judged one by one, and the program trusts no certificate "
                            "but the host's own");
    } else if (connector_.inspects(endpoint, source_)) { // by the answer
        server->abort();
        co_await serve_inspected(std::move(endpoint), std::move(granted), false);
        co_return;
    }
    client_->write(std::move(granted));
    protocol_ = Protocol::tunnel;
    Inspector inspector(std::move(endpoint));
    if (raw_) {
        inspector.permit_raw();
    }
    co_await carry(std::move(server), std::move(inspector));
}

Task<void> ProxyConnection::serve_inspected(Endpoint endpoint, std::string granted, bool to_proxy) {
    endpoint_ = endpoint;
    co_await connector_.require_not_denied(endpoint, source_);
    client_->write(std::move(granted));
    protocol_ = Protocol::tunnel;
    if (in_.empty()) {
        limit_time(head_limit);
        co_await need(1);
    }
    RelayedClient client;
    client.endpoint = std::move(endpoint);
    client.source = source_;
    client.to_proxy = to_proxy;
    if (in_.front() == '\x16') {
        co_await end_tls(&client);
    } else {
        client.early = take(in_.size());
        client.stream = std::move(client_);
    }
    limit_->cancel();
    relay_ = std::make_unique<RequestRelay>(clock_, connector_, std::move(client));
    co_await relay_->run();
}

Task<void> ProxyConnection::end_tls(RelayedClient* client) {
    std::string early = take(in_.size());
    auto accepting = connector_.accept_tls(std::move(client_), std::move(early), client->endpoint, source_);
    std::optional<std::unique_ptr<async::SocketStream>> accepted =
        co_await with_timeout(clock_, head_limit, std::move(accepting));
    if (!accepted) {
        throw Error(ErrorCode::invalid_request, "the client did not complete its opening of TLS in time");
    }
    client->stream = std::move(*accepted);
    client->tls = true;
}

Task<void> ProxyConnection::serve_http() {
    std::optional<std::size_t> size = head_size(in_);
    while (!size) {
        co_await need(in_.size() + 1);
        size = head_size(in_);
    }
    std::string text = take(*size);
    const RequestHead head = parse_head(text);
    if (head.method == "CONNECT") {
        co_await serve_connect(head);
    } else {
        co_await serve_request(head, std::move(text));
    }
}

Task<void> ProxyConnection::serve_connect(const RequestHead& head) {
    std::optional<Endpoint> endpoint = parse_endpoint(head.target, std::nullopt);
    if (!endpoint || !MessageBody(head).ended()) {
        throw Error(ErrorCode::invalid_request,
                    fmt::format("expected CONNECT with a host and a port, and no body, found: {}",
                                escape_unprintable(std::string_view(head.target).substr(0, max_reason_bytes))));
    }
    const std::optional<std::string> host = head.single("host");
    if (host && parse_endpoint(*host, endpoint->port).value_or(Endpoint{}).host != endpoint->host) {
        require_host(head, *endpoint); // says so
    }
    std::string granted = "HTTP/1.1 200 Connection established\r\n\r\n";
    co_await serve_tunnel(std::move(*endpoint), std::move(granted));
}

Task<void> ProxyConnection::serve_request(const RequestHead& head, std::string text) {
    const std::optional<Target> target = parse_target(head.target);
    if (!target) {
        throw Error(ErrorCode::invalid_request,
                    fmt::format("expected a URL such as http://example.org/, found: {}",
                                escape_unprintable(std::string_view(head.target).substr(0, max_reason_bytes))));
    }
    require_host(head, target->endpoint);
    Inspector inspector(target->endpoint, MessageBody(head));
    const bool complete = inspector.ended();
    std::unique_ptr<async::SocketStream> server;
    if (!connector_.inspects(target->endpoint, source_)) {
        server = co_await upstream(target->endpoint, complete);
    }
    if (connector_.inspects(target->endpoint, source_)) { // by a rule, or by the answer
        if (server) {
            server->abort();
        }
        in_.insert(0, text);
        co_await serve_inspected(target->endpoint, std::string(), true);
        co_return;
    }
    std::string own_head = head_for_server(head, target->path, authority_of(target->endpoint, false));
    sent_ += static_cast<std::int64_t>(own_head.size());
    server->write(std::move(own_head));
    one_request_ = true;
    co_await carry(std::move(server), std::move(inspector));
}

Task<std::unique_ptr<async::SocketStream>> ProxyConnection::upstream(Endpoint endpoint, bool complete) {
    endpoint_ = endpoint;
    Upstream upstream = co_await while_client_stays(connector_.connect(std::move(endpoint), source_), complete);
    execution_id_ = std::move(upstream.execution_id);
    outcome_ = std::move(upstream.outcome);
    co_return std::move(upstream.server);
}

Task<void> ProxyConnection::permit_raw(std::string why) {
    raw_ = true;
    Upstream permitted = co_await while_client_stays(connector_.permit_raw(*endpoint_, source_, std::move(why)),
                                                     true); // it may have said all that it will
    outcome_.carried(std::exchange(sent_, 0), std::exchange(received_, 0));
    outcome_.succeeded();
    outcome_ = std::move(permitted.outcome);
    if (permitted.execution_id) {
        execution_id_ = std::move(permitted.execution_id);
    }
}

Task<Upstream> ProxyConnection::while_client_stays(Task<Upstream> asking, bool complete) {
    limit_->cancel(); // how long a user thinks is not the client's fault
    watched_.reset();
    const auto outcome = std::make_shared<Deferred<Upstream>>();
    const std::shared_ptr<CancelState> connecting = tasks_.spawn(resolve_with(outcome, std::move(asking)));
    const std::shared_ptr<CancelState> watching = tasks_.spawn(watch_client(connecting, complete));
    Upstream permitted = co_await finally(outcome->get(), stop_watching(watching));
    co_return std::move(permitted);
}

Task<void> ProxyConnection::resolve_with(std::shared_ptr<Deferred<Upstream>> outcome, Task<Upstream> asking) {
    try {
        outcome->resolve(co_await std::move(asking));
    } catch (const Cancelled&) {
        outcome->reject(std::make_exception_ptr(Error(ErrorCode::request_cancelled, "the client has gone")));
    } catch (const Error&) {
        outcome->reject(std::current_exception());
    }
}

// A client that goes withdraws its question.
Task<void> ProxyConnection::watch_client(std::shared_ptr<CancelState> connecting, bool complete) {
    bool gone = false;
    try {
        while (!gone && in_.size() < max_early_bytes) {
            const std::string bytes = co_await client_->read();
            in_ += bytes;
            gone = bytes.empty();
        }
    } catch (const Error& error) { // cancelled, most likely
        gone = error.code != ErrorCode::request_cancelled;
    }
    if (gone && !complete) {
        connecting->cancel();
    }
    watched_.set();
}

// There is one reader at a time.
Task<void> ProxyConnection::stop_watching(std::shared_ptr<CancelState> watching) {
    watching->cancel();
    co_await watched_.wait();
}

Task<void> ProxyConnection::carry(std::unique_ptr<async::SocketStream> server, Inspector inspector) {
    Event down_ended;
    const std::shared_ptr<CancelState> down = tasks_.spawn(carry_down(*server, inspector, down_ended));
    co_await finally(carry_until_ended(*server, inspector, down_ended), end_carrying(*server, down, down_ended));
}

Task<void> ProxyConnection::carry_until_ended(async::SocketStream& server, Inspector& inspector, Event& down_ended) {
    co_await carry_up(server, inspector);
    silence_ = tasks_.spawn(abort_when_silent(&server));
    co_await down_ended.wait();
}

Task<void> ProxyConnection::end_carrying(async::SocketStream& server, std::shared_ptr<CancelState> down,
                                         Event& down_ended) {
    if (silence_) {
        silence_->cancel();
    }
    if (!down_ended.is_set()) { // the client was refused, or has gone
        refused_ = true;
        down->cancel();
        co_await down_ended.wait();
    }
    server.abort();
}

Task<void> ProxyConnection::carry_up(async::SocketStream& server, Inspector& inspector) {
    std::string bytes = take(in_.size());
    if (bytes.empty()) {
        bytes = co_await client_->read();
    }
    while (!bytes.empty()) {
        tls_ = tls_ || (protocol_ == Protocol::tunnel && bytes.front() == '\x16');
        const bool waited = inspector.waits();
        std::string passed;
        if (!inspector.ended()) {
            passed = inspector.pass(bytes);
        }
        if (inspector.waits() && !waited) {
            limit_time(head_limit); // what is said first has to come whole
        } else if (waited && !inspector.waits()) {
            limit_->cancel();
        }
        if (inspector.asks_for_raw()) {
            co_await permit_raw("what the program sends is neither TLS nor HTTP");
            passed = inspector.permit_raw();
        }
        if (!passed.empty()) {
            sent_ += static_cast<std::int64_t>(passed.size());
            server.write(std::move(passed));
            co_await server.drained(max_unsent_bytes);
        }
        bytes = take(in_.size());
        if (bytes.empty()) {
            bytes = co_await client_->read();
        }
    }
    limit_->cancel();
    server.close_output();
}

Task<void> ProxyConnection::carry_down(async::SocketStream& server, const Inspector& inspector, Event& ended) {
    ResponseMark mark;
    try {
        std::string bytes = co_await server.read();
        while (!bytes.empty() && !client_->peer_gone()) {
            server_spoke_ = true;
            received_ += static_cast<std::int64_t>(bytes.size());
            client_->write(inspector.speaks_http() ? mark.pass(bytes) : std::move(bytes));
            co_await client_->drained(max_unsent_bytes);
            bytes = co_await server.read();
        }
    } catch (const Error&) {
        // It ended, in one way or another.
    }
    if (!refused_) {
        client_->close_output();
        if (one_request_ || client_->peer_gone()) {
            server.abort();
            limit_time(parting_limit); // for a client that goes on sending
        } else {
            limit_time(silence_limit);
        }
    }
    ended.set();
}

// While the server is silent, a client that has gone and a client that waits look the same.
Task<void> ProxyConnection::abort_when_silent(async::SocketStream* server) {
    do {
        server_spoke_ = false;
        co_await sleep_for(clock_, silence_limit);
    } while (server_spoke_);
    server->abort();
}

void ProxyConnection::refuse(const Error& error) {
    const bool denied = error.code == ErrorCode::denied;
    std::string reason = error.message;
    refusal_ = reason;
    if (denied && endpoint_) {
        connector_.log_refusal(*endpoint_, reason);
        if (!endpoint_->host.is_address && protocol_ != Protocol::tunnel) {
            reason = fmt::format("Failed to resolve '{}': {}", endpoint_->host.name, reason);
        }
    }
    if (!client_) {
        return; // it was in the middle of opening TLS
    }
    if (protocol_ == Protocol::socks) {
        client_->write(to_bytes(denied                                    ? SocksReply::not_allowed
                                : error.code == ErrorCode::internal_error ? SocksReply::host_unreachable
                                                                          : SocksReply::failed));
    } else if (tls_) {
        client_->write(std::string(tls_access_denied));
    } else if (!raw_ && protocol_ != Protocol::nothing && !one_request_) {
        client_->write(http_answer(http_status_of(error.code), reason));
    }
}

} // namespace cellgate::egress
