#pragma once
// `ClientHub` is the clients that a sidecar serves: it gives them their numbers, tells them what happens, each
// according to its role, to what it follows and to `ResultReview`, and asks one of them. A question to a client that
// has left, cannot answer or may not see it is not asked.

#include "client.hpp"
#include "gate/gate.hpp"
#include "protocol/messages/sessions.hpp"
#include "protocol/messages/tool_servers.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace cellgate::service {

class ResultReview;

protocol::ExecuteChangedParams changed_params(const session::Execution& execution,
                                              std::optional<std::int64_t> position);

class ClientHub final : public gate::Elicitor {
  public:
    // What agents are not told. Before anything is; it must outlive the hub's use.
    void set_review(const ResultReview& review) { review_ = &review; }
    // For a client that connects; none is given twice.
    session::ClientId new_id() { return next_id_++; }
    void add(std::shared_ptr<Client> client);
    // It receives no notification and no request any more.
    void remove(session::ClientId id) { clients_.erase(id); }

    template <class Notification>
    void notify_users(const typename Notification::Params& params) const {
        for (const auto& [id, client] : clients_) {
            if (client->role == protocol::Role::user && client->stage == Client::Stage::initialized) {
                client->peer.template notify<Notification>(params);
            }
        }
    }
    // No client follows a later session of this id without attaching to it.
    void detach_all_from(const std::string& session_id);
    // To the clients that follow the execution, after all of its output so far.
    void execution_changed(const session::Execution& execution, std::optional<std::int64_t> position) const;
    // To those of them that read.
    void progress(const session::Execution& execution, const protocol::ExecuteProgressParams& progress) const;
    void output(const session::Execution& execution, const protocol::OutputRecord& record) const;

    // The answer of the client's user to input(); nothing if the client cannot ask. Cancelling withdraws the question.
    Task<std::optional<std::string>> ask_input(session::ClientId id, protocol::InputRequestParams params);
    bool can_elicit(const gate::Request& request) const override;
    Task<protocol::ApprovalElicitResult> elicit(gate::Agent agent, protocol::Approval approval,
                                                bool until_cell_ends) override;

  private:
    // nullptr if it has left.
    std::shared_ptr<Client> find(session::ClientId id) const;

    const ResultReview* review_ = nullptr;
    std::map<session::ClientId, std::shared_ptr<Client>> clients_;
    session::ClientId next_id_ = 1;
};

} // namespace cellgate::service
