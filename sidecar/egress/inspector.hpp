#pragma once
// `Inspector` is the check of what a client sends in a tunnel: a TLS client has to ask for the tunnel's host, and so
// has a client that speaks unencrypted HTTP. Bytes of anything else are raw: they wait until they are permitted, and
// then all pass unchanged. The content of TLS is not seen.

#include "base/host.hpp"
#include "message_body.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cellgate::egress {

class Inspector {
  public:
    explicit Inspector(Endpoint endpoint) : endpoint_(std::move(endpoint)) {}
    // For the body of a request whose head was judged and passed on already.
    Inspector(Endpoint endpoint, MessageBody body) : endpoint_(std::move(endpoint)), body_(std::move(body)) {}

    // The client's bytes that go on to the server now; the next call continues behind `bytes`. Throws
    // Error{denied} for another host than the tunnel's, {invalid_request} for what cannot be read.
    std::string pass(std::string_view bytes);
    // The client speaks unencrypted HTTP.
    bool speaks_http() const { return body_.has_value(); }
    // Bytes are kept back until more arrive.
    bool waits() const { return !kept_.empty() && !raw_; }
    // What was sent is neither TLS nor HTTP, and waits for permit_raw(), which gives it back.
    bool asks_for_raw() const { return raw_ && !open_; }
    std::string permit_raw();
    // The client's one request is complete; no more of its bytes are read.
    bool ended() const { return body_ && body_->ended(); }

  private:
    std::string pass_http();

    Endpoint endpoint_;
    bool raw_ = false;
    bool open_ = false;               // what follows is not looked at
    std::string kept_;                // bytes that cannot be judged yet; dropped at the client's end
    std::optional<MessageBody> body_; // of the one request
};

// Throws Error{denied} unless the request asks for `endpoint`, by its Host field.
void require_host(const RequestHead& head, const Endpoint& endpoint);

} // namespace cellgate::egress
