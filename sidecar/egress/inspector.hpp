#pragma once
// What a client says first in a tunnel, compared with where the tunnel leads: a TLS client has to ask for that host,
// and so has one that speaks HTTP in the open. Other protocols name no host; they are passed as they are, until a line
// of them is a request of HTTP. What is inside of TLS is not seen.

#include "base/host.hpp"
#include "http_body.hpp"
#include "request_line_watch.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cellgate::egress {

class Inspector {
  public:
    explicit Inspector(Endpoint endpoint) : endpoint_(std::move(endpoint)) {}
    // Of a request whose head was looked at and passed on already.
    Inspector(Endpoint endpoint, RequestBody body) : endpoint_(std::move(endpoint)), body_(std::move(body)) {}

    // What of the client's bytes goes on to the server now; the next call goes on behind `bytes`. Throws
    // Error{denied} for another host than the tunnel's, {invalid_request} for what cannot be read.
    std::string pass(std::string_view bytes);
    // It is HTTP in the open.
    bool speaks_http() const { return body_.has_value(); }
    // Something was kept back, until more comes.
    bool waits() const { return !kept_.empty(); }
    // No more bytes of the client are wanted: its one request is complete.
    bool ended() const { return body_ && body_->ended(); }

  private:
    std::string pass_http();
    std::string pass_open(std::string bytes);

    Endpoint endpoint_;
    bool open_ = false;               // it is not HTTP, and shall not become that
    RequestLineWatch requests_;       // of an open one
    std::string kept_;                // what cannot be judged yet; at the client's end, it is not passed
    std::optional<RequestBody> body_; // of the one request
};

// Throws Error{denied} unless the request asks for `endpoint`, by its Host field.
void require_host(const RequestHead& head, const Endpoint& endpoint);

} // namespace cellgate::egress
