#pragma once
// `ActivityRecord` writes what happens in a sidecar into its workspace's record, and answers questions about it. What
// it is given is appended at once, and kept off the loop.

#include "base/clock.hpp"
#include "base/known_secrets.hpp"
#include "gate/record_sink.hpp"
#include "protocol/messages/record.hpp"
#include "protocol/messages/sessions.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "record/record.hpp"
#include "record/record_reader.hpp"
#include "record_settings.hpp"
#include "session/execution.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cellgate::service {

inline constexpr const char* files_changed_type = "files.changed";
inline constexpr const char* files_restored_type = "files.restored";

class ActivityRecord final : public gate::RecordSink {
  public:
    // `directory`: of this workspace's record.
    // `secrets`, if any, are in no entry; they outlive it.
    ActivityRecord(Clock& clock, RunBlocking run_blocking, std::string directory, const RecordSettings& settings,
                   const KnownSecrets* secrets = nullptr);

    void on_decided(const gate::Decision& decision, const protocol::PastDecision& past) override;
    void on_ended(gate::ActionId action, const protocol::Outcome& outcome) override;
    void on_used_up(const protocol::Rule& rule) override;
    std::string trace_parent(gate::ActionId action, const std::optional<std::string>& execution_id) const override;
    Task<void> stored() override;
    bool is_required() const override { return settings_.required; }

    // Once its first kernel runs. One that does not start has no entry but its decisions.
    void session_started(const protocol::SessionInfo& session);
    void session_closed(const std::string& session_id);
    void session_changed(const protocol::SessionChangedParams& changed);
    void limits_changed(const protocol::LimitsSetParams& set, const std::optional<gate::Agent>& agent);
    void execution_changed(const session::Execution& execution);
    void rule_added(const protocol::Rule& rule);
    void rule_removed(const std::string& rule_id);
    // Of an execution, or by an undo, whose `id` that is.
    void files_changed(bool by_an_undo, const std::optional<std::string>& session_id, const std::string& id,
                       RawJson data);
    void login_ended(const protocol::ToolServersLoginEndedParams& ended);
    // By a user, or by the start of a tool server.
    void secret_noted(std::string_view type, bool by_a_user, std::optional<std::string> session_id, RawJson data);

    Task<protocol::RecordQueryResult> query(protocol::RecordQueryParams params);
    // The same of the execution that last had the id that is asked for.
    Task<protocol::RecordQueryResult> query_newest(protocol::RecordQueryParams params);
    Task<protocol::RecordVerifyResult> verify(protocol::RecordVerifyParams params);

    // Both read off the loop, and find nothing when there is no record yet. kept_range() has what was appended so far.
    Task<record::KeptRange> kept_range();
    using Visit = std::function<bool(const record::StoredEntry&)>;
    Task<void> read(std::int64_t from_seq, Visit visit); // as RecordReader::each()
    // Counts the entries that this sidecar has stored.
    std::uint64_t stored_count() const { return stored_count_; }
    // Until it stored more than `seen`, or a second has passed, in which another one may have.
    Task<void> stored_more(std::uint64_t seen);

    // Removes what is older, and more, than the settings say.
    Task<void> prune();
    // Must be awaited.
    Task<void> close();

  private:
    Task<std::optional<Error>> settled();
    Task<std::optional<Error>> failure_of(Task<void> storing);
    void append(record::NewEntry entry, record::Durability durability = record::Durability::written);
    void append_of_session(std::string_view type, const std::string& session_id, RawJson data);

    Clock& clock_;
    RunBlocking run_blocking_;
    const std::string directory_;
    const RecordSettings settings_;
    const KnownSecrets* const secrets_;
    const std::string run_;        // numbers of actions are this sidecar's
    const std::string run_member_; // the same in JSON
    record::Record record_;
    struct Origin {
        std::optional<std::string> session_id;
        std::optional<std::string> execution_id;
    };
    std::map<gate::ActionId, Origin> going_on_; // actions that were allowed
    std::map<std::string, bool> sessions_;      // that have started, and whether a kernel runs in each
    std::uint64_t stored_count_ = 0;
    Event stored_more_;
    TaskScope tasks_;
    std::int64_t last_ = -1; // that was appended
    std::string problem_;    // why the last one that was waited for is not kept; empty if it is
};

} // namespace cellgate::service
