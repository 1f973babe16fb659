#pragma once
// One client of the sidecar: its conversation, its role, what it said it can do. The role comes from how it connected
// and never changes. It shows approvals to its person once it is attached to the gate.

#include "base/off_loop.hpp"
#include "gate/gate.hpp"
#include "output_feed.hpp"
#include "protocol/messages/lifecycle.hpp"
#include "protocol/peer.hpp"
#include "session/execution.hpp"

#include <memory>
#include <set>
#include <string>

namespace cellgate::service {

class Client final : public gate::Answerer {
  public:
    Client(session::ClientId id, protocol::Role role, std::shared_ptr<protocol::Connection> connection,
           OffLoop off_loop);
    ~Client() = default;

    enum class Stage { connected, initialized, shut_down };

    const session::ClientId id;
    const protocol::Role role;
    protocol::Peer peer;
    OutputFeed outputs;
    Stage stage = Stage::connected;
    bool said_goodbye = false; // shutdown or exit
    Duration linger{};         // how long it is waited for when it vanishes
    std::string name = "not initialized";
    protocol::ClientCapabilities capabilities;
    std::set<std::string> attached;   // sessions whose executions it follows, beside its own
    std::optional<gate::Agent> agent; // of role agent, once it is initialized
    TaskScope tasks;                  // on the client's behalf; ended with it

    // What an agent runs is shown to every person.
    bool follows(const session::Execution& execution) const {
        return execution.client == id || attached.contains(execution.session_id) ||
               (execution.agent && role == protocol::Role::person && stage == Stage::initialized);
    }
    // Throws Error{forbidden}: a person would have been let. The attempt is logged.
    [[noreturn]] void refuse(const std::string& why) const;
    // Takes what it says that it is and can do.
    void introduce(const protocol::ClientInfo& info, const protocol::ClientCapabilities& can);
    bool answers_approvals() const { return role == protocol::Role::person && capabilities.approvals.value_or(false); }

    void on_requested(const protocol::Approval& approval) override;
    void on_resolved(const protocol::ApprovalResolvedParams& resolved) override;

  private:
    void admit(const std::string& method, const RawJson& params) const;
};

} // namespace cellgate::service
