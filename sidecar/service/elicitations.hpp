#pragma once
// `Elicitations` is the questions of tool servers that wait for a user. Every attached client is asked, a later one
// too; the first answer wins. They end with their calls, or when no client is there any more that could answer. close()
// must have been awaited before destruction.

#include "base/clock.hpp"
#include "gate/gate.hpp"
#include "protocol/messages/policy.hpp"
#include "tools/elicitor.hpp"

#include <list>
#include <memory>
#include <string>
#include <vector>

namespace cellgate::service {

// A client that shows them to its user.
class ElicitationClient {
  public:
    virtual void on_elicitation_requested(const protocol::Elicitation& elicitation) = 0;
    virtual void on_elicitation_resolved(const protocol::ElicitationResolvedParams& resolved) = 0;

  protected:
    ~ElicitationClient() = default;
};

class Elicitations final : public tools::Elicitor {
  public:
    // Both must outlive it. While a question waits, the clock of its execution stands still.
    Elicitations(Clock& clock, gate::Gate& gate) : clock_(clock), gate_(gate) {}

    // `client` must stay until it is detached. It receives those that wait.
    void attach(ElicitationClient& client);
    // After the last client, they wait for `linger`, and end then.
    void detach(ElicitationClient& client, Duration linger);

    bool can_ask() const override { return !clients_.empty() || linger_; }
    Task<tools::ElicitationReply> elicit(protocol::Elicitation question, tools::ValuesCheck check) override;
    // Whether a value of this field may be secret: also where no such elicitation waits, or it has no such field.
    bool is_secret(const std::string& elicitation_id, const std::string& field) const;
    // Throws Error{elicitation_not_found, answer_invalid}.
    void respond(const protocol::ElicitationRespondParams& params);
    Task<void> close();

  private:
    struct Waiting;
    using WaitingPtr = std::shared_ptr<Waiting>;

    void resolve(const WaitingPtr& waiting, tools::ElicitationReply reply, protocol::ResolvedBy by);
    // nullptr if none of this id waits.
    WaitingPtr find(const std::string& elicitation_id) const;
    void cancel_all();
    Task<void> cancel_after(Duration linger);

    Clock& clock_;
    gate::Gate& gate_;
    std::vector<ElicitationClient*> clients_;
    std::list<WaitingPtr> waiting_;       // in the order in which they came
    std::shared_ptr<CancelState> linger_; // while a client is expected back
    TaskScope tasks_;
};

} // namespace cellgate::service
