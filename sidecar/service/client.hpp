#pragma once
// One client of the sidecar: its conversation, its role, what it said it can do. The role comes from how it connected
// and never changes. It shows approvals to its person once it is attached to the gate.

#include "gate/gate.hpp"
#include "output_feed.hpp"
#include "protocol/messages/lifecycle.hpp"
#include "protocol/peer.hpp"
#include "session/execution.hpp"

#include <memory>

namespace cellgate::service {

class Client final : public gate::Answerer {
  public:
    Client(session::ClientId id, protocol::Role role, std::shared_ptr<protocol::Connection> connection,
           OutputFeed::Aside aside);
    ~Client() = default;

    enum class Stage { connected, initialized, shut_down };

    const session::ClientId id;
    const protocol::Role role;
    protocol::Peer peer;
    OutputFeed outputs;
    Stage stage = Stage::connected;
    protocol::ClientCapabilities capabilities;
    TaskScope tasks; // on the client's behalf; ended with it

    bool answers_approvals() const { return role == protocol::Role::person && capabilities.approvals.value_or(false); }

    void on_requested(const protocol::Approval& approval) override;
    void on_resolved(const protocol::ApprovalResolvedParams& resolved) override;

  private:
    void admit(const std::string& method) const;
};

} // namespace cellgate::service
