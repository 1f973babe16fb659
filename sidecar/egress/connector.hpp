#pragma once
// `Connector` makes a connection from a host's name: it asks the gate, resolves the name, asks the gate about each
// address, and connects to one of exactly these addresses. Equal requests of a program at the same time share one
// approval; an answer that makes no rule covers only one of them.

#include "base/sync.hpp"
#include "egress/network.hpp"
#include "egress/proxy.hpp"
#include "gate/gate.hpp"
#include "refusal_log.hpp"
#include "request_action.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace cellgate::egress {

struct Upstream {
    std::unique_ptr<async::SocketStream> server;
    // The execution with which the permission ends; nothing when a rule that outlives executions allows the host.
    std::optional<std::string> execution_id;
    gate::OutcomeReport outcome;
};

class Connector {
  public:
    Connector(Clock& clock, Network& network, gate::Gate& gate, ProxyOptions options);
    Connector(const Connector&) = delete;
    Connector& operator=(const Connector&) = delete;
    ~Connector();

    // Throws Error{denied} with the reason, and Error{internal_error} when the host cannot be reached. Cancelling
    // withdraws the approval.
    Task<Upstream> connect(Endpoint endpoint, ConnectionSource source);

    // The permission for bytes of any kind in a connection that is open; the result has no server. `why` they cannot be
    // judged. Throws Error{denied}.
    Task<Upstream> permit_raw(Endpoint endpoint, ConnectionSource source, std::string why);

    // Whether requests to it are judged one by one, in place of the connection.
    bool inspects(const Endpoint& endpoint, const ConnectionSource& source) const;
    // Throws Error{denied} when a rule denies the connection.
    Task<void> require_not_denied(Endpoint endpoint, ConnectionSource source);
    // The server's side of a client's TLS. Throws Error{denied} where the sandbox has no authority, and as
    // tls::accept_tls().
    Task<std::unique_ptr<async::SocketStream>> accept_tls(std::unique_ptr<async::SocketStream> client,
                                                          std::string early, Endpoint endpoint,
                                                          ConnectionSource source);
    // Whether that program, at that line, refused the certificate that accept_tls() has for the endpoint.
    bool is_distrusted(const Endpoint& endpoint, const ConnectionSource& source) const;
    // A connection for requests that were allowed; with TLS its server is verified.
    Task<std::unique_ptr<async::SocketStream>> connect_inspected(Endpoint endpoint, bool tls);
    gate::Request request_for(gate::HttpRequest action, const ConnectionSource& source) const;
    // Why the request is refused whatever rules say: it has what stands for a secret, where no rule puts one in.
    std::optional<std::string> misplaced_secret(const RequestToJudge& request) const;
    // For a request to this endpoint that was allowed. Throws Error{denied} when there is none.
    Task<std::string> secret_value(std::string name, Endpoint endpoint);
    // Throws Error{denied} unless `decision` allows it.
    void require_allowed(const Endpoint& endpoint, const gate::Decision& decision) const;
    gate::Gate& gate() { return gate_; }

    // Logs a refusal; equal ones are counted (RefusalLog).
    void log_refusal(const Endpoint& endpoint, const std::string& reason);

    // Withdraws pending approvals. The owner awaits it before destroying the connector.
    Task<void> close();

  private:
    struct PendingDecision;
    struct Lookup;

    gate::Request request_for(const Endpoint& endpoint, const ConnectionSource& source) const;
    struct Answer {
        gate::Decision decision;
        gate::OutcomeReport outcome;
    };
    Task<Answer> ask(gate::Request request);
    Task<void> decide(std::shared_ptr<PendingDecision> pending, gate::Request request);
    Task<void> leave(std::shared_ptr<PendingDecision> pending);
    void forget(const PendingDecision& pending);
    Task<std::unique_ptr<async::SocketStream>> connect_allowed(Endpoint endpoint);
    Task<std::vector<Host>> look_up(Host host);
    Task<void> judge_addresses(const Endpoint& endpoint, const std::vector<Host>& addresses);
    Task<std::unique_ptr<async::SocketStream>> connect_to(std::uint16_t port, std::vector<Host> addresses);
    Task<void> look_up_into(std::shared_ptr<Lookup> lookup, Host host);

    Clock& clock_;
    Network& network_;
    gate::Gate& gate_;
    ProxyOptions options_;
    std::map<std::string, std::shared_ptr<PendingDecision>> pending_; // by key_of() the request
    RefusalLog refusals_;
    std::set<std::string> distrusted_; // client_of() each
    int lookups_ = 0;                  // under way
    Condition lookup_ended_;
    TaskScope tasks_;
};

} // namespace cellgate::egress
