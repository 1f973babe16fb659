#pragma once
// `RedirectReceiver` is where a user's browser ends up after a login: a small HTTP server on 127.0.0.1 that takes
// GET /callback with the state of the login that waits. Anything on the machine, and any page in the browser, can send
// requests to it: it answers them with an error, and goes on waiting.

#include "async/loop.hpp"
#include "async/tcp_listener.hpp"
#include "base/clock.hpp"
#include "mcp/oauth_client.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace cellgate::tools {

class RedirectReceiver {
  public:
    // Port 0: one that is free. `clock` outlives it. Throws Error{internal_error} if the port is taken.
    RedirectReceiver(async::Loop& loop, Clock& clock, std::uint16_t port);

    std::uint16_t port() const { return listener_.port(); }
    std::string uri() const;
    // What came for this state. Must be awaited to its end.
    Task<mcp::AuthorizationResponse> receive(std::string state);
    void close() { listener_.close(); }

  private:
    struct Page;

    Task<void> accept_all();
    Task<void> serve(std::unique_ptr<async::SocketStream> stream);
    // The page to answer with; sets the response if it is the one that is waited for.
    Page answer(std::string_view head);

    Clock& clock_;
    async::TcpListener listener_;
    std::string state_;
    std::optional<mcp::AuthorizationResponse> response_;
    Event ended_;
    std::exception_ptr error_;
    TaskScope connections_;
};

} // namespace cellgate::tools
