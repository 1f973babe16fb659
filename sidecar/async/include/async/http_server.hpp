#pragma once
// `HttpServer` answers HTTP/1.1 requests, over TLS if it has a certificate (libmicrohttpd on the loop). What it accepts
// is bounded: connections, the sizes of heads and bodies, and the time that a client has to send a request and to take
// its answer. Its owner awaits close() before destroying it.

#include "async/http.hpp"
#include "base/host.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::async {

struct ServedRequest {
    std::string method;
    std::string path;  // without the query
    HttpFields fields; // names in lower case, values without the blanks around them
    std::string body;

    // The value of a field, named in lower case; nothing unless there is exactly one.
    std::optional<std::string> only(std::string_view name) const;
    bool has(std::string_view name) const {
        return std::any_of(fields.begin(), fields.end(), [name](const auto& each) { return each.first == name; });
    }
};

struct ServedReply {
    int status = 200;
    HttpFields fields = {};
    std::string body = {};
};

// `HttpResponder` gives the answer to one request: a whole one, or a stream. It may outlive the server, and the client:
// what it is given then is dropped.
class HttpResponder {
  public:
    struct Exchange;

    explicit HttpResponder(std::shared_ptr<Exchange> exchange);

    void reply(ServedReply reply);
    // From here on the body is what write() gets, until end().
    void begin_stream(HttpFields fields);
    // Waits while the client has much to take.
    Task<void> write(std::string bytes);
    void end();
    // The client has closed the connection, or took nothing for too long.
    bool is_gone() const;
    // Called once, when that happens before the answer has ended.
    void on_gone(std::function<void()> callback);

  private:
    std::shared_ptr<Exchange> exchange_;
};

struct HttpHandler {
    virtual ~HttpHandler() = default;
    // Asked with a head alone: a reply refuses the request, and its body is dropped as it is read. Called within the
    // server's turn: it starts nothing.
    virtual std::optional<ServedReply> refuse(const ServedRequest& head) = 0;
    // Answers the request. Goes on when the client is gone; is cancelled by HttpServer::close().
    virtual Task<void> answer(ServedRequest request, std::shared_ptr<HttpResponder> responder) = 0;
};

struct HttpServerOptions {
    Endpoint endpoint;            // an address, and a port; 0: one that is free
    std::string certificate = {}; // PEM; empty: no TLS
    std::string key = {};
    std::size_t max_body_bytes = std::size_t{16} << 20; // a longer one is answered with 413
    unsigned max_connections = 128;                     // further ones wait
    unsigned request_seconds = 30;                      // from the first byte of a request to its last
    unsigned idle_seconds = 60;                         // between requests; for an answer of which nothing is taken
};

class HttpServer {
  public:
    // Listens. Throws Error{internal_error}.
    HttpServer(Loop& loop, HttpServerOptions options);
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    ~HttpServer();

    std::uint16_t port() const { return port_; }
    // Begins to answer. Throws Error{internal_error}: the certificate is unusable, or there is no library. `handler`
    // must outlive it.
    void serve(HttpHandler& handler);
    // Ends all connections, and the handlers that still run.
    Task<void> close();

    struct Impl;

  private:
    std::shared_ptr<Impl> impl_;
    std::uint16_t port_;
};

} // namespace cellgate::async
