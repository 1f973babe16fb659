#pragma once
// `Client` is one client of the sidecar: its conversation, its role, its capabilities. The role follows from the socket
// that it connected to and never changes. It shows approvals to its user once it is attached to the gate.

#include "base/run_blocking.hpp"
#include "elicitations.hpp"
#include "gate/gate.hpp"
#include "output_feed.hpp"
#include "protocol/messages/lifecycle.hpp"
#include "protocol/peer.hpp"
#include "session/execution.hpp"
#include "stats.hpp"

#include <memory>
#include <set>
#include <string>

namespace cellgate::service {

class Client final : public gate::ApprovalClient, public ElicitationClient {
  public:
    Client(session::ClientId id, protocol::Role role, std::shared_ptr<protocol::Connection> connection,
           RunBlocking run_blocking);
    ~Client() = default;

    enum class Stage { connected, initialized, shut_down };

    const session::ClientId id;
    const protocol::Role role;
    protocol::Peer peer;
    OutputFeed outputs;
    Stage stage = Stage::connected;
    bool clean_exit = false; // shutdown or exit
    Duration linger{};       // how long to wait for it after a lost connection
    std::string name = "not initialized";
    protocol::ClientCapabilities capabilities;
    std::set<std::string> attached;   // sessions whose executions it follows, besides its own
    std::optional<gate::Agent> agent; // of role agent, once it is initialized
    TaskScope tasks;                  // on behalf of the client; ended with it
    Stats* stats = nullptr;           // counts the approvals that this client shows; nullptr: nothing does

    // Every user sees the executions of agents.
    bool follows(const session::Execution& execution) const {
        return execution.client == id || attached.contains(execution.session_id) ||
               (execution.agent && role == protocol::Role::user && stage == Stage::initialized);
    }
    // Throws Error{forbidden} for something that only a user may do, and logs the attempt.
    [[noreturn]] void refuse(const std::string& why) const;
    // From its `initialize`.
    void set_identity(const protocol::ClientInfo& info, const protocol::ClientCapabilities& can);
    bool answers_approvals() const { return role == protocol::Role::user && capabilities.approvals.value_or(false); }

    // What tool servers ask, that is.
    bool answers_elicitations() const {
        return role == protocol::Role::user && capabilities.elicitation.value_or(false);
    }

    // The client begins to show it, in its own program or by a question to its user.
    void count_shown(const protocol::Approval& approval);
    void on_requested(const protocol::Approval& approval) override;
    void on_resolved(const protocol::ApprovalResolvedParams& resolved) override;
    void on_elicitation_requested(const protocol::Elicitation& elicitation) override;
    void on_elicitation_resolved(const protocol::ElicitationResolvedParams& resolved) override;

  private:
    void admit(const std::string& method, const RawJson& params) const;
};

} // namespace cellgate::service
