#pragma once
// `Proxy` is an HTTP/1 and SOCKS5 proxy, the only way out of a session's sandbox. It listens on a unix socket in the
// session's directory, to which the bridge in the sandbox (helper/bridge.hpp) connects. The socket belongs to one
// session, so the session of a connection is known without asking the code. Every connection is an action of kind
// `network` for the gate. A name is resolved here, once, after the gate allowed it, and the proxy connects only to
// addresses that were judged. Every byte on the socket is untrusted. At most 64 connections are open; further ones
// wait. Owned by the session, one for each start of its kernel.

#include "async/loop.hpp"
#include "egress/connection_source.hpp"
#include "egress/network.hpp"
#include "gate/gate.hpp"
#include "tls/certificate_authority.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace cellgate::egress {

// What the requests to hosts that rules inspect need.
struct Inspection {
    std::shared_ptr<tls::CertificateAuthority> authority; // that the sandbox trusts; nullptr: there is none
    std::string problem = "its sandbox has no authority"; // why
    // The value of a secret, for a request to an endpoint that was allowed. Throws Error{denied}. May be empty.
    std::function<Task<std::string>(std::string name, std::string endpoint)> secret_value;
    std::map<std::string, std::string> placeholders; // the names of secrets, by what code has in their place
};

struct ProxyOptions {
    std::string path; // of the socket: at most 107 bytes
    std::string name; // of the sandbox's owner, for the log
    // Makes the request of a connection that starts now: a gate::Connection, complete but for the host and port.
    std::function<gate::Request(const ConnectionSource&)> asker;
    std::function<void(const Endpoint& endpoint, const gate::Decision& decision)> on_refused; // may be empty
    std::function<void(const Endpoint& endpoint)>
        on_distrusted; // by a client of a host that is inspected; may be empty
    std::shared_ptr<const Inspection> inspection = std::make_shared<Inspection>(); // complete before the sandbox starts
};

class Proxy {
  public:
    // Listens from now on. Throws Error{internal_error}. All references must outlive the proxy.
    Proxy(async::Loop& loop, Clock& clock, Network& network, gate::Gate& gate, ProxyOptions options);
    Proxy(const Proxy&) = delete;
    Proxy& operator=(const Proxy&) = delete;
    ~Proxy();

    // Serves until close(), or until cancelled; then every connection is closed and every approval withdrawn.
    Task<void> run();
    // Ends the connections that only an answer or a grant for this execution allows. Pending approvals stay.
    void end_execution(const std::string& execution_id);
    // Ends all connections, before the code's open sockets could be used by another client's code.
    void close_all();
    void close();

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

} // namespace cellgate::egress
