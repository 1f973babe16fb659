#pragma once
// The way from a host's name to a connection: the gate's yes, the name's addresses, the judgement of each, and then one
// of these very addresses. What a program asks at the same time for the same is one question; a yes to it is for one of
// them, if no rule covers the others.

#include "egress/network.hpp"
#include "egress/proxy.hpp"
#include "gate/gate.hpp"
#include "refusal_log.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace cellgate::egress {

struct Upstream {
    std::unique_ptr<async::SocketStream> server;
    // The execution with which the permission ends; nothing when a rule of more than an execution allows the host.
    std::optional<std::string> execution_id;
};

class Connector {
  public:
    Connector(Clock& clock, Network& network, gate::Gate& gate, ProxyOptions options);
    Connector(const Connector&) = delete;
    Connector& operator=(const Connector&) = delete;
    ~Connector();

    // Throws Error{denied} with the reason, and Error{internal_error} when nothing is to be reached there. Cancelling
    // withdraws the question.
    Task<Upstream> connect(Endpoint endpoint, ConnectionSource source);

    // Into the log, with those like it.
    void log_refusal(const Endpoint& endpoint, const std::string& reason);

    // Ends what is asked; await it before the end.
    Task<void> close();

  private:
    struct Question;

    gate::Request request_for(const Endpoint& endpoint, const ConnectionSource& source) const;
    Task<gate::Decision> ask(gate::Request request);
    Task<void> decide(std::shared_ptr<Question> question, gate::Request request);
    void forget(const Question& question);
    // Throws Error{denied} unless `decision` allows it.
    void require_allowed(const Endpoint& endpoint, const gate::Decision& decision) const;
    Task<std::vector<Host>> look_up(Host host);
    Task<void> judge_addresses(const Endpoint& endpoint, const std::vector<Host>& addresses);
    Task<std::unique_ptr<async::SocketStream>> connect_to(std::uint16_t port, std::vector<Host> addresses);
    Task<void> look_up_into(std::shared_ptr<Deferred<std::vector<Host>>> outcome, Host host);
    Task<void> reject_late(std::shared_ptr<Deferred<std::vector<Host>>> outcome, std::string name);
    Task<void> connect_into(std::shared_ptr<Deferred<std::unique_ptr<async::SocketStream>>> outcome, Endpoint endpoint);

    Clock& clock_;
    Network& network_;
    gate::Gate& gate_;
    ProxyOptions options_;
    std::map<std::string, std::shared_ptr<Question>> questions_; // by what is asked, and for whom
    RefusalLog refusals_;
    int lookups_ = 0; // under way
    Event lookup_ended_;
    TaskScope tasks_;
};

} // namespace cellgate::egress
