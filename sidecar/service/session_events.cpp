#include "session_events.hpp"

#include "base/json_codec.hpp"

#include <utility>

namespace cellgate::service {

void SessionEvents::session_opened(const std::string& session_id) {
    if (ledger_ != nullptr) {
        ledger_->session_opened(session_id);
    }
}

void SessionEvents::session_closed(const std::string& session_id) {
    clients_.detach_all_from(session_id);
    activity_.session_closed(session_id);
    review_.session_is_new(session_id);
    secrets_.end_session(session_id);
    if (ledger_ != nullptr) {
        ledger_->session_closed(session_id);
    }
}

void SessionEvents::on_session_changed(const protocol::SessionChangedParams& changed) {
    activity_.session_changed(changed);
    clients_.notify_users<protocol::SessionChanged>(changed);
}

void SessionEvents::on_execution_changed(const session::Execution& execution, std::optional<std::int64_t> position) {
    if (execution.state == protocol::ExecutionState::running) {
        review_.execution_started(execution);
    }
    track(execution);
    activity_.execution_changed(execution);
    stats_.execution_changed(execution);
    if (ledger_ != nullptr) {
        record(execution);
    }
    clients_.execution_changed(execution, position);
    if (execution.state == protocol::ExecutionState::finished) {
        changes_.execution_finished(execution);
    }
}

void SessionEvents::on_execution_waits(const session::Execution& execution, std::optional<std::int64_t> position) {
    clients_.execution_changed(execution, position);
}

void SessionEvents::on_output(const session::Execution& execution, const protocol::OutputRecord& record) {
    review_.output_recorded(execution, record.seq);
    clients_.output(execution, record);
}

void SessionEvents::on_progress(const session::Execution& execution, const protocol::ExecuteProgressParams& progress) {
    clients_.progress(execution, progress);
}

Task<std::optional<std::string>> SessionEvents::ask_input(session::ClientId client,
                                                          protocol::InputRequestParams params) {
    return clients_.ask_input(client, std::move(params));
}

void SessionEvents::track(const session::Execution& execution) {
    if (execution.state == protocol::ExecutionState::queued) {
        idle_tracker_.execution_began();
    } else if (execution.state == protocol::ExecutionState::finished) {
        idle_tracker_.execution_ended();
    }
}

void SessionEvents::record(const session::Execution& execution) {
    if (execution.state == protocol::ExecutionState::queued) {
        store::LedgerEntry entry;
        entry.execution_id = execution.id;
        entry.session_id = execution.session_id;
        if (execution.params.cell) {
            entry.cell = to_raw_json(*execution.params.cell);
        }
        ledger_->queued(std::move(entry));
    } else if (execution.state == protocol::ExecutionState::running) {
        ledger_->started(execution.id);
    } else {
        ledger_->finished(execution.id, to_raw_json(execution.result));
    }
}

} // namespace cellgate::service
