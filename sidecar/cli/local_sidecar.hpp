#pragma once
// `LocalSidecar` is a sidecar in this process with one client, over a pipe in memory. The client uses the same
// protocol as an editor.

#include "async/loop.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/lifecycle.hpp"
#include "protocol/messages/policy.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "protocol/peer.hpp"
#include "service/sidecar.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace cellgate::cli {

// The messages of the sidecar to its client.
struct ClientEvents {
    virtual ~ClientEvents() = default;
    virtual void on_output(const protocol::ExecuteOutputParams& output) = 0;
    // One line; empty: it is over.
    virtual void on_progress(const std::string& text) = 0;
    virtual void on_approval_requested(const protocol::Approval& approval) = 0;
    virtual void on_approval_resolved(const protocol::ApprovalResolvedParams& resolved) = 0;
    virtual void on_login_ended(const protocol::ToolServersLoginEndedParams& /*ended*/) {} // one that it began
    // Of what a tool server asks; of a client that cannot answer, there are none.
    virtual void on_elicitation_requested(const protocol::Elicitation& /*elicitation*/) {}
    virtual void on_elicitation_resolved(const protocol::ElicitationResolvedParams& /*resolved*/) {}
    virtual Task<protocol::InputRequestResult> on_input_request(protocol::InputRequestParams params) = 0;
};

class LocalSidecar {
  public:
    // `can_type`: whether the client can answer input() and what tool servers ask. `events` must outlive the sidecar.
    LocalSidecar(async::Loop& loop, service::SidecarOptions options, ClientEvents& events, bool can_type);
    ~LocalSidecar();

    Task<void> start();
    template <class Method>
    Task<typename Method::Result> call(typename Method::Params params) {
        return peer_->call<Method>(std::move(params));
    }
    // As an ApprovalPrompt takes it.
    std::function<Task<Empty>(protocol::ApprovalRespondParams)> responder() {
        return [this](protocol::ApprovalRespondParams params) {
            return call<protocol::ApprovalRespond>(std::move(params));
        };
    }
    // Ends the conversation and every process. Must be awaited.
    Task<void> close();

  private:
    Task<void> serve(std::unique_ptr<ByteStream> stream);

    service::Sidecar sidecar_;
    bool can_type_;
    std::unique_ptr<protocol::Peer> peer_;
    TaskScope tasks_;
};

} // namespace cellgate::cli
