#pragma once
// `SessionEvents` is where the sessions of a sidecar report what happens in them. It goes to the clients, to the idle
// tracker, to the ledger, which survives a crash, to the record, to the figures, to what keeps the changes of files,
// to what withholds output from agents, and to the secrets of sessions.

#include "activity_record.hpp"
#include "client_hub.hpp"
#include "idle_tracker.hpp"
#include "result_review.hpp"
#include "session/session_options.hpp"
#include "session_secrets.hpp"
#include "stats.hpp"
#include "store/ledger.hpp"
#include "workspace_changes.hpp"

namespace cellgate::service {

class SessionEvents final : public session::SessionObserver {
  public:
    // All must outlive it; `ledger` is nullptr for a sidecar whose work ends with its client.
    SessionEvents(ClientHub& clients, IdleTracker& idle_tracker, store::Ledger* ledger, ActivityRecord& activity,
                  WorkspaceChanges& changes, Stats& stats, ResultReview& review, SessionSecrets& secrets)
        : clients_(clients), idle_tracker_(idle_tracker), ledger_(ledger), activity_(activity), changes_(changes),
          stats_(stats), review_(review), secrets_(secrets) {}

    void session_opened(const std::string& session_id);
    // Its first kernel runs.
    void session_started(const protocol::SessionInfo& session) { activity_.session_started(session); }
    void session_closed(const std::string& session_id);

    Task<void> before_execution(std::shared_ptr<const session::Execution> execution) override {
        return changes_.before_execution(std::move(execution));
    }
    void on_session_changed(const protocol::SessionChangedParams& changed) override;
    void on_execution_changed(const session::Execution& execution, std::optional<std::int64_t> position) override;
    void on_execution_waits(const session::Execution& execution, std::optional<std::int64_t> position) override;
    void on_output(const session::Execution& execution, const protocol::OutputRecord& record) override;
    void on_reviewed_result(const std::string& session_id, const session::Execution* running,
                            const std::string& tool) override {
        review_.result_reviewed(session_id, running, tool);
    }
    void on_kernel_started(const std::string& session_id) override { review_.session_is_new(session_id); }
    void on_progress(const session::Execution& execution, const protocol::ExecuteProgressParams& progress) override;
    Task<std::optional<std::string>> ask_input(session::ClientId client, protocol::InputRequestParams params) override;

  private:
    void track(const session::Execution& execution);
    void record(const session::Execution& execution);

    ClientHub& clients_;
    IdleTracker& idle_tracker_;
    store::Ledger* ledger_;
    ActivityRecord& activity_;
    WorkspaceChanges& changes_;
    Stats& stats_;
    ResultReview& review_;
    SessionSecrets& secrets_;
};

} // namespace cellgate::service
