#include "client_hub.hpp"

#include "gate/question_lines.hpp"
#include "progress.hpp"
#include "result_review.hpp"

#include <utility>

namespace cellgate::service {

namespace {

Task<void> notify_when_flushed(std::shared_ptr<Client> client, protocol::ExecuteChangedParams changed) {
    std::string execution_id = changed.execution_id;
    co_await client->outputs.flushed(std::move(execution_id));
    client->peer.notify<protocol::ExecuteChanged>(changed);
}

} // namespace

void ClientHub::add(std::shared_ptr<Client> client) {
    const session::ClientId id = client->id;
    clients_[id] = std::move(client);
}

std::shared_ptr<Client> ClientHub::find(session::ClientId id) const {
    const auto found = clients_.find(id);
    return found == clients_.end() ? nullptr : found->second;
}

void ClientHub::detach_all_from(const std::string& session_id) {
    for (const auto& [id, client] : clients_) {
        client->attached.erase(session_id);
    }
}

protocol::ExecuteChangedParams changed_params(const session::Execution& execution,
                                              std::optional<std::int64_t> position) {
    protocol::ExecuteChangedParams changed;
    changed.execution_id = execution.id;
    changed.state = execution.state;
    changed.position = position;
    changed.waits_behind = execution.waits_behind();
    if (execution.agent) {
        changed.session_id = execution.session_id;
        changed.agent = execution.agent->name;
    }
    return changed;
}

void ClientHub::execution_changed(const session::Execution& execution, std::optional<std::int64_t> position) const {
    const protocol::ExecuteChangedParams changed = changed_params(execution, position);
    const bool told_later = execution.state == protocol::ExecutionState::finished && review_->is_undecided(execution);
    const std::int64_t records = execution.journal.next_seq();
    for (const auto& [id, client] : clients_) {
        if (!client->follows(execution) || (client->agent && told_later)) {
            continue;
        }
        if (client->outputs.first_unsent(execution.id, records) < records) {
            client->tasks.spawn(notify_when_flushed(client, changed));
        } else {
            client->peer.notify<protocol::ExecuteChanged>(changed);
        }
    }
}

void ClientHub::output(const session::Execution& execution, const protocol::OutputRecord& record) const {
    for (const auto& [id, client] : clients_) {
        if (client->follows(execution) && !(client->agent && review_->hides(execution, record.seq))) {
            client->outputs.send(execution, record);
        }
    }
}

void ClientHub::progress(const session::Execution& execution, const protocol::ExecuteProgressParams& progress) const {
    for (const auto& [id, client] : clients_) {
        const bool hidden = client->agent && review_->hides(execution.id);
        if (client->follows(execution) && !hidden && client->peer.connection().queued_bytes() <= max_queued_progress) {
            client->peer.notify<protocol::ExecuteProgress>(progress);
        }
    }
}

Task<std::optional<std::string>> ClientHub::ask_input(session::ClientId id, protocol::InputRequestParams params) {
    const std::shared_ptr<Client> client = find(id);
    const bool hidden = client && client->agent && review_->hides(params.execution_id);
    if (!client || hidden || !client->capabilities.input.value_or(false)) {
        co_return std::nullopt;
    }
    std::string execution_id = params.execution_id;
    co_await client->outputs.flushed(std::move(execution_id));
    protocol::InputRequestResult result = co_await client->peer.call<protocol::InputRequest>(std::move(params));
    co_return std::optional(std::move(result.value));
}

bool ClientHub::can_elicit(const gate::Request& request) const {
    const std::shared_ptr<Client> client = find(request.agent->client);
    return client && client->capabilities.elicitation.value_or(false) &&
           !review_->hides(request.session_id, request.execution_id);
}

Task<protocol::ApprovalElicitResult> ClientHub::elicit(gate::Agent agent, protocol::Approval approval,
                                                       bool until_cell_ends) {
    const std::shared_ptr<Client> client = find(agent.client);
    if (!client) {
        throw Error(ErrorCode::request_cancelled, "the agent has left");
    }
    client->count_shown(approval);
    protocol::ApprovalElicitParams params;
    params.execution_id = std::move(approval.execution_id);
    params.origin = std::move(approval.origin);
    params.display = gate::question_lines(approval);
    params.until_cell_ends = until_cell_ends;
    co_return co_await client->peer.call<protocol::ApprovalElicit>(std::move(params));
}

} // namespace cellgate::service
