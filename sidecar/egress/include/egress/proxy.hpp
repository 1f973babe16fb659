#pragma once
// The way out of a session's sandbox: an HTTP/1 and SOCKS5 proxy at a unix socket in the session's directory, which the
// bridge inside of the sandbox (helper/bridge.hpp) leads to. The socket is the session's alone, so who connects is who
// the session says. Every connection is an action of kind `network` for the gate; a name is looked up after the yes,
// here, once, and connected to is one of the addresses that were judged. Every byte on the socket is untrusted. At most
// 64 connections; the next ones wait. Owned by the session, one for each start of its kernel.

#include "async/loop.hpp"
#include "egress/connection_source.hpp"
#include "egress/network.hpp"
#include "gate/gate.hpp"

#include <functional>
#include <memory>
#include <string>

namespace cellgate::egress {

struct ProxyOptions {
    std::string path; // of the socket: at most 107 bytes
    std::string name; // of whose sandbox it is, in the log
    // Who asks at this moment, as the question shows it: a request that lacks only where to.
    std::function<gate::Request(const ConnectionSource&)> asker;
    std::function<void(const Endpoint& endpoint, const gate::Decision& decision)> on_refused; // may be empty
};

class Proxy {
  public:
    // Listens from here on. Throws Error{internal_error}. All but the options stay as long as it.
    Proxy(async::Loop& loop, Clock& clock, Network& network, gate::Gate& gate, ProxyOptions options);
    Proxy(const Proxy&) = delete;
    Proxy& operator=(const Proxy&) = delete;
    ~Proxy();

    // Serves until close(), or until cancelled; then every connection is closed and every question withdrawn.
    Task<void> run();
    // Ends the connections that only an answer or a grant for this execution allows. What waits for an answer stays.
    void end_execution(const std::string& execution_id);
    // Ends all connections: from now on, others may use what the code has open.
    void close_all();
    void close();

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

} // namespace cellgate::egress
