#include "activity_record.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"
#include "base/hash.hpp"
#include "base/json_codec.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "base/text.hpp"
#include "record/trace_ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace cellgate::service {

namespace {

constexpr std::size_t max_kept_bytes = std::size_t{64} << 10; // of code, and of an action; of a longer one its hash
constexpr std::size_t default_limit = 100;
constexpr std::size_t run_digits = 12;
constexpr std::int64_t entries_between_prunings = 5000;
constexpr std::int64_t max_keep_days = 36'500; // as far back as times go
constexpr std::size_t max_page_bytes = std::size_t{8} << 20;
constexpr Duration poll_interval = std::chrono::seconds(1);

constexpr const char* by_user = "user";
constexpr const char* by_agent = "agent";
constexpr const char* by_cellgate = "cellgate";

// A text, or what is left of one that is too long to keep.
struct KeptText {
    std::optional<std::string> whole;
    std::optional<std::string> sha256;
    std::optional<std::int64_t> bytes;
};

KeptText kept(const std::string& text) {
    if (text.size() <= max_kept_bytes) {
        return {text, std::nullopt, std::nullopt};
    }
    return {std::nullopt, sha256(text), static_cast<std::int64_t>(text.size())};
}

struct StartedData {
    KeptText code;
    std::optional<protocol::CellPosition> cell;
    std::optional<std::string> agent;
    std::optional<std::string> saved_tool;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("code", self.code.whole);
        visit("sha256", self.code.sha256);
        visit("bytes", self.code.bytes);
        visit("cell", self.cell);
        visit("agent", self.agent);
        visit("savedTool", self.saved_tool);
    }
};

struct ErrorData {
    std::string ename;
    std::string evalue;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("ename", self.ename);
        visit("evalue", self.evalue);
    }
};

struct EndedData {
    protocol::ExecutionStatus status = protocol::ExecutionStatus::ok;
    double duration_seconds = 0;
    double waited_seconds = 0;
    std::optional<std::string> reason;
    std::optional<ErrorData> error;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("status", self.status);
        visit("durationSeconds", self.duration_seconds);
        visit("waitedSeconds", self.waited_seconds);
        visit("reason", self.reason);
        visit("error", self.error);
    }
};

struct CreatedData {
    std::string kernel;
    std::string language;
    protocol::SandboxKind sandbox;
    std::optional<std::string> agent;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("kernel", self.kernel);
        visit("language", self.language);
        visit("sandbox", self.sandbox);
        visit("agent", self.agent);
    }
};

struct LoginData {
    std::string server;
    std::optional<std::string> error;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("server", self.server);
        visit("error", self.error);
    }
};

std::string shortened(const std::string& text) {
    constexpr std::size_t most = 2000;
    return std::string(cut_at_character(text, most));
}

EndedData ended_data(const protocol::ExecuteResult& result) {
    EndedData data;
    data.status = result.status;
    data.duration_seconds = result.duration_seconds;
    data.waited_seconds = result.waited_seconds;
    data.reason = result.reason;
    if (result.error) {
        data.error = ErrorData{shortened(result.error->ename), shortened(result.error->evalue)};
    }
    return data;
}

// An object with more members, of `more`: "\"a\":1".
RawJson with_more(std::string object, const std::string& more) {
    object.pop_back();
    object += object.size() > 1 ? "," : "";
    object += more;
    object += '}';
    return RawJson::checked(std::move(object));
}

RawJson text_member(std::string_view name, std::string_view value) {
    std::string text = fmt::format(R"({{"{}":)", name);
    append_json_string(text, value);
    return RawJson::checked(text + "}");
}

const char* actor_of(protocol::ResolvedBy by) {
    switch (by) {
    case protocol::ResolvedBy::user:
    case protocol::ResolvedBy::elicitation:
        return by_user;
    case protocol::ResolvedBy::rule:
        return "rule";
    case protocol::ResolvedBy::cancelled:
    case protocol::ResolvedBy::no_client:
        break;
    }
    return by_cellgate;
}

record::Query query_of(const protocol::RecordQueryParams& params) {
    record::Query query;
    query.since = params.since ? parse_rfc3339(*params.since) : std::nullopt;
    query.until = params.until ? parse_rfc3339(*params.until) : std::nullopt;
    query.types = params.types.value_or(std::vector<std::string>());
    query.session_id = params.session_id;
    query.execution_id = params.execution_id;
    query.text = params.text;
    query.before_seq = params.before_seq;
    // One more tells whether there are more.
    query.limit = static_cast<std::size_t>(params.limit.value_or(default_limit)) + 1;
    return query;
}

protocol::RecordQueryResult page_of(std::vector<record::StoredEntry> found, std::size_t limit) {
    protocol::RecordQueryResult page;
    std::size_t bytes = 0;
    for (const record::StoredEntry& entry : found) {
        bytes += entry.json.size();
        if (page.entries.size() == limit || (bytes > max_page_bytes && !page.entries.empty())) {
            page.more = true;
            break;
        }
        page.entries.push_back(from_json<protocol::RecordEntry>(entry.json, "entry"));
    }
    return page;
}

} // namespace

ActivityRecord::ActivityRecord(Clock& clock, RunBlocking run_blocking, std::string directory,
                               const RecordSettings& settings, const KnownSecrets* secrets)
    : clock_(clock), run_blocking_(std::move(run_blocking)), directory_(std::move(directory)), settings_(settings),
      secrets_(secrets), run_(random_id().substr(0, run_digits)), run_member_(fmt::format(R"("run":"{}")", run_)),
      record_({directory_, "cellgate/" + directory_.substr(directory_.rfind('/') + 1), settings.checkpoint_copy,
               run_blocking_, &clock}) {
    record_.on_stored([this](const record::StoredEntry&) {
        ++stored_count_;
        stored_more_.set();
    });
}

void ActivityRecord::append(record::NewEntry entry, record::Durability durability) {
    entry.time = clock_.wall();
    if (secrets_ != nullptr) {
        entry.data = masked_json(secrets_->mask(), std::move(entry.data));
    }
    last_ = record_.append(std::move(entry), durability);
    if (last_ % entries_between_prunings == entries_between_prunings - 1) {
        tasks_.spawn(prune());
    }
}

std::string ActivityRecord::trace_parent(gate::ActionId action, const std::optional<std::string>& execution_id) const {
    return settings_.trace_context ? record::trace_parent(record::ids_of_action(run_, action, execution_id)) : "";
}

Task<void> ActivityRecord::stored() {
    Task<void> durable = record_.stored(last_);
    const std::optional<Error> problem = co_await failure_of(std::move(durable));
    if (problem && settings_.required) {
        throw Error(*problem);
    }
}

// Why what was appended is not in the database.
Task<std::optional<Error>> ActivityRecord::settled() {
    Task<void> flushed = record_.flushed();
    co_return co_await failure_of(std::move(flushed));
}

Task<std::optional<Error>> ActivityRecord::failure_of(Task<void> storing) {
    std::optional<Error> problem;
    try {
        co_await std::move(storing);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        problem = error;
    }
    const std::string why = problem ? problem->message : std::string();
    if (problem && problem_ != why) {
        log_warning("what happens is not recorded: {}", why);
    }
    problem_ = why;
    co_return problem;
}

// ---- What happens ---------------------------------------------------------------------------------------------------

void ActivityRecord::on_decided(const gate::Decision& decision, const protocol::PastDecision& past) {
    const std::string action = to_json(gate::to_protocol(decision.action));
    const std::string kept = action.size() <= max_kept_bytes
                                 ? R"("action":)" + action
                                 : fmt::format(R"("sha256":"{}","bytes":{})", sha256(action), action.size());
    RawJson data = with_more(to_json(past), kept + "," + run_member_);
    if (decision.allowed) {
        going_on_[decision.action_id] = {past.session_id, past.execution_id};
    }
    const bool answered = decision.by == protocol::ResolvedBy::user || decision.by == protocol::ResolvedBy::elicitation;
    append({{}, "action.decided", actor_of(decision.by), past.session_id, past.execution_id, std::move(data)},
           answered || settings_.required ? record::Durability::synced : record::Durability::written);
}

void ActivityRecord::on_ended(gate::ActionId action, const protocol::Outcome& outcome) {
    RawJson data = with_more(to_json(outcome), fmt::format(R"("number":{},{})", action, run_member_));
    const Origin origin = std::exchange(going_on_[action], {});
    going_on_.erase(action);
    append({{}, "action.ended", by_cellgate, origin.session_id, origin.execution_id, std::move(data)});
}

void ActivityRecord::append_of_session(std::string_view type, const std::string& session_id, RawJson data) {
    append({{}, std::string(type), by_cellgate, session_id, std::nullopt, std::move(data)});
}

void ActivityRecord::session_started(const protocol::SessionInfo& session) {
    const CreatedData data{session.kernel.name, session.kernel.language, session.sandbox, session.agent};
    append_of_session("session.created", session.session_id, to_raw_json(data));
    append_of_session("kernel.started", session.session_id, RawJson::checked("{}"));
    sessions_[session.session_id] = true;
}

void ActivityRecord::session_closed(const std::string& session_id) {
    if (sessions_.erase(session_id) != 0) {
        append_of_session("session.closed", session_id, RawJson::checked("{}"));
    }
}

void ActivityRecord::session_changed(const protocol::SessionChangedParams& changed) {
    using Status = protocol::SessionStatus;
    const auto found = sessions_.find(changed.session_id);
    if (found == sessions_.end()) {
        return;
    }
    bool& runs = found->second;
    const bool ended = changed.status == Status::dead || changed.status == Status::restarting;
    if (changed.status == Status::idle && !std::exchange(runs, true)) {
        append_of_session("kernel.started", changed.session_id, RawJson::checked("{}"));
    } else if (ended && std::exchange(runs, false)) {
        append_of_session("kernel.ended", changed.session_id,
                          changed.reason ? text_member("reason", *changed.reason) : RawJson::checked("{}"));
    }
}

void ActivityRecord::limits_changed(const protocol::LimitsSetParams& set, const std::optional<gate::Agent>& agent) {
    append({{},
            "limits.changed",
            agent ? by_agent : by_user,
            set.session_id,
            std::nullopt,
            RawJson::checked(fmt::format(R"({{"limits":{}}})", to_json(set.limits)))});
}

void ActivityRecord::execution_changed(const session::Execution& execution) {
    const char* actor = execution.agent ? by_agent : by_user;
    if (execution.saved_tool && execution.params.silent.value_or(false)) {
        return; // cellgate's own code, which makes the kernel ready for the tool
    }
    if (execution.state == protocol::ExecutionState::running) {
        StartedData data{kept(execution.params.code), execution.params.cell, gate::name_of(execution.agent),
                         execution.saved_tool};
        append({{},
                "execution.started",
                actor,
                execution.session_id,
                execution.id,
                with_more(to_json(data), run_member_)});
    } else if (execution.state == protocol::ExecutionState::finished) {
        append({{},
                "execution.ended",
                by_cellgate,
                execution.session_id,
                execution.id,
                to_raw_json(ended_data(execution.result))});
    }
}

void ActivityRecord::rule_added(const protocol::Rule& rule) {
    append({{},
            "policy.added",
            by_user,
            rule.session_id,
            std::nullopt,
            RawJson::checked(fmt::format(R"({{"rule":{}}})", to_json(rule)))},
           record::Durability::synced);
}

void ActivityRecord::rule_removed(const std::string& rule_id) {
    append({{}, "policy.removed", by_user, std::nullopt, std::nullopt, text_member("ruleId", rule_id)},
           record::Durability::synced);
}

void ActivityRecord::on_used_up(const protocol::Rule& rule) {
    RawJson data = with_more(text_member("ruleId", rule.id).text(), R"("reason":"its last use was taken")");
    append({{}, "policy.removed", by_cellgate, rule.session_id, std::nullopt, std::move(data)});
}

void ActivityRecord::files_changed(bool by_an_undo, const std::optional<std::string>& session_id, const std::string& id,
                                   RawJson data) {
    append({{},
            by_an_undo ? files_restored_type : files_changed_type,
            by_an_undo ? by_user : by_cellgate,
            session_id,
            id,
            std::move(data)});
}

void ActivityRecord::login_ended(const protocol::ToolServersLoginEndedParams& ended) {
    LoginData data{ended.server, std::nullopt};
    if (ended.status != protocol::LoginStatus::granted) {
        data.error = ended.message.value_or("it was given up");
    }
    append({{}, "login.ended", by_user, std::nullopt, std::nullopt, to_raw_json(data)});
}

void ActivityRecord::secret_noted(std::string_view type, bool by_a_user, std::optional<std::string> session_id,
                                  RawJson data) {
    const char* actor = by_a_user ? by_user : by_cellgate;
    append({{}, std::string(type), actor, std::move(session_id), std::nullopt, std::move(data)});
}

// ---- Reading --------------------------------------------------------------------------------------------------------

Task<protocol::RecordQueryResult> ActivityRecord::query(protocol::RecordQueryParams params) {
    const std::optional<Error> unsettled = co_await settled(); // so that a client finds what it has seen
    const record::Query query = query_of(params);
    protocol::RecordQueryResult result;
    std::function<void()> read = [this, &query, &result] {
        if (record::RecordReader::exists(directory_)) {
            result = page_of(record::RecordReader(directory_).query(query), query.limit - 1);
        }
    };
    try {
        co_await run_blocking_(std::move(read));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        if (!unsettled) {
            throw;
        }
    }
    if (unsettled) {
        result.problem = escape_unprintable(unsettled->message);
    }
    co_return result;
}

// A name can be used again once the execution that had it is forgotten: what is older is somebody else's.
Task<protocol::RecordQueryResult> ActivityRecord::query_newest(protocol::RecordQueryParams params) {
    protocol::RecordQueryParams start;
    start.execution_id = params.execution_id;
    start.types = {"execution.started"};
    start.limit = 1;
    const protocol::RecordQueryResult found = co_await query(std::move(start));
    if (found.entries.empty()) {
        co_return found;
    }
    params.since = std::max(params.since.value_or(""), found.entries.front().time);
    co_return co_await query(std::move(params));
}

Task<protocol::RecordVerifyResult> ActivityRecord::verify(protocol::RecordVerifyParams params) {
    co_await settled();
    record::VerifyResult found;
    std::function<void()> check = [this, &params, &found] {
        if (record::RecordReader::exists(directory_)) {
            found = record::RecordReader(directory_).verify(params.checkpoint);
        }
    };
    co_await run_blocking_(std::move(check));
    protocol::RecordVerifyResult result;
    result.ok = found.ok;
    result.entries = found.entries;
    result.first_bad_seq = found.first_bad_seq;
    if (!found.problem.empty()) {
        result.problem = escape_unprintable(found.problem);
    }
    if (!found.checkpoint.empty()) {
        result.checkpoint = found.checkpoint;
    }
    co_return result;
}

Task<record::KeptRange> ActivityRecord::kept_range() {
    co_await settled();
    record::KeptRange kept;
    std::function<void()> work = [this, &kept] {
        if (record::RecordReader::exists(directory_)) {
            kept = record::RecordReader(directory_).kept();
        }
    };
    co_await run_blocking_(std::move(work));
    co_return kept;
}

Task<void> ActivityRecord::read(std::int64_t from_seq, Visit visit) {
    std::function<void()> work = [this, from_seq, &visit] {
        if (record::RecordReader::exists(directory_)) {
            record::RecordReader(directory_).each(from_seq, visit);
        }
    };
    co_await run_blocking_(std::move(work));
}

Task<void> ActivityRecord::stored_more(std::uint64_t seen) {
    if (stored_count_ == seen) {
        stored_more_.reset();
        const Instant deadline = clock_.now() + poll_interval;
        co_await wait_until(clock_, stored_more_, deadline);
    }
}

Task<void> ActivityRecord::prune() {
    constexpr auto day = std::chrono::hours(24);
    record::Pruning pruning;
    pruning.now = clock_.wall();
    pruning.before = pruning.now - day * std::min<std::int64_t>(settings_.keep_days, max_keep_days);
    pruning.max_bytes = settings_.max_bytes;
    try {
        co_await record_.prune(pruning);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        log_warning("the record was not pruned: {}", error.message);
    }
}

Task<void> ActivityRecord::close() {
    co_await tasks_.join();
    try {
        co_await record_.close();
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        log_warning("the record could not be closed well: {}", error.message);
    }
}

} // namespace cellgate::service
