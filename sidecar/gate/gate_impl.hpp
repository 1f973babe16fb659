#pragma once
// `Gate::Impl` is the gate's state and the life of a request in it: evaluated against the rules, queued, shown as an
// approval, settled. `pending_requests.cpp` has that life, `answers.cpp` users' answers, `policy.cpp` the methods on
// rules, and `gate.cpp` the public interface. Private to the gate.

#include "api_documents.hpp"
#include "approval_queue.hpp"
#include "decisions.hpp"
#include "definitions.hpp"
#include "gate/gate.hpp"
#include "policy_engine.hpp"

#include <deque>
#include <map>
#include <set>

namespace cellgate::gate {

using protocol::Effect;
using protocol::ResolvedBy;
using protocol::Rule;
using protocol::RuleSource;
using protocol::Scope;
using protocol::Verdict;

inline constexpr std::string_view no_approver = "no user is connected who can answer, and no rule allows it";

// How many calls of a running execution wait for a user.
struct PendingCount {
    std::function<void(std::size_t)> on_pending;
    std::size_t pending = 0;
};

// The effects of a valid answer.
struct Answer {
    struct One {
        PendingRequestPtr entry;
        std::optional<Action> edited;
        std::optional<Rule> rule;
    };
    std::vector<One> each;
    std::vector<Rule> rules;
    std::map<std::string, Grantee> grantees; // those of them that hold in one session or execution
    bool needs_confirmation = false;
    std::optional<protocol::Confirmation> confirmation = {};
};

// Requests that are being answered. Other answers to them wait until the lock is released.
class AnswerLock {
  public:
    explicit AnswerLock(std::vector<PendingRequestPtr> entries);
    AnswerLock(const AnswerLock&) = delete;
    AnswerLock& operator=(const AnswerLock&) = delete;
    ~AnswerLock();

  private:
    std::vector<PendingRequestPtr> entries_;
    std::shared_ptr<Event> released_ = std::make_shared<Event>();
};

// An answer that was checked, and whose turn it is.
struct CheckedAnswer {
    std::unique_ptr<AnswerLock> lock;
    Answer answer;
};

// What is signed to confirm an answer: lines of ASCII.
std::string confirmation_text(const protocol::ApprovalRespondParams& params, const Answer& answer);

std::string no_approver_reason(const Request& request);
Decision decision_by(PolicyResult result, const Action& action);
Decision denied(const Action& action, ResolvedBy by, std::string reason);

struct Gate::Impl : std::enable_shared_from_this<Gate::Impl> {
    Impl(Clock& clock_, GateOptions options_)
        : clock(clock_), options(std::move(options_)),
          policy(clock, options.run_blocking, options.root, options.policy_directory),
          documents(options.run_blocking, policy.rules().root()), definitions(options.policy_directory) {
        if (options.record != nullptr) {
            sinks.push_back(options.record);
        }
    }

    static Task<Decision> decide(std::shared_ptr<Impl> self, Request request);
    // Looks a request up in the OpenAPI document of its host, for the question.
    static Task<void> describe_operation(std::shared_ptr<Impl> self, PendingRequestPtr entry);
    // Of a user.
    static Task<Decision> ask(std::shared_ptr<Impl> self, PendingRequestPtr entry);
    // The same, once the decision is recorded.
    static Task<Decision> decide_stored(std::shared_ptr<Impl> self, Request request);
    // Gives the decision its number, and the sinks the decision.
    void record(const PendingRequest& entry, Decision& decision);
    // The same for an action that needs no approval.
    Decision record_immediate(const PendingRequest& entry, Decision decision);
    // The time of its end is now.
    void record_outcome(ActionId action, protocol::Outcome outcome);

    // Notifications of clients and calls that go on must not run while this state is half changed. They are queued in
    // the outbox, and pump() sends them at the end of every operation, also of the operations that they cause.
    void pump();
    // Pumps after every task that is ready now has run: when several calls are cancelled together, no approval of one
    // of them is shown in between.
    void schedule_flush();
    static Task<void> pump_later(std::shared_ptr<Impl> self);
    void ask_next(const std::string& queue);
    void prepare(const PendingRequestPtr& entry);
    void show(const PendingRequestPtr& entry);
    // Resolves the paths that an evaluation of the entry lacked, and evaluates it again.
    void resolve_paths(const PendingRequestPtr& entry);
    static Task<void> resolve_paths_of(std::shared_ptr<Impl> self, PendingRequestPtr entry);
    void judge_pending(const PendingRequestPtr& entry);
    void settle(const PendingRequestPtr& entry, Decision decision);
    // One more, or one less, waits for a user in this execution, if it is one.
    void count(const std::optional<std::string>& execution_id, bool more);
    void notify(const std::function<void(ApprovalClient&)>& what);
    void notify(ApprovalClient& client, const std::function<void(ApprovalClient&)>& what);
    void announce_again(const PendingRequest& entry, ApprovalClient& client);
    // No client is attached, and none is expected back.
    bool has_no_approver() const { return clients.empty() && !linger; }

    void refresh();
    // After rules have changed: settles the pending approvals that they now decide, of one session or of all.
    void reconsider(const std::optional<std::string>& session_id);
    void settle_all(ResolvedBy by, const std::string& reason, const std::optional<std::string>& session_id);
    // Once there is no approver: denies what waits, but for what the users of agents' programs are asked.
    void settle_unanswerable();

    static Task<void> respond(std::shared_ptr<Impl> self, protocol::ApprovalRespondParams params);
    static Task<CheckedAnswer> take_turn(std::shared_ptr<Impl> self, const protocol::ApprovalRespondParams* params);
    // The same answer, confirmed. Its turn is given up meanwhile. Throws Error{not_confirmed}, {approval_resolved}.
    static Task<CheckedAnswer> confirmed(std::shared_ptr<Impl> self, const protocol::ApprovalRespondParams* params,
                                         CheckedAnswer checked);
    // Throws as respond() does. The result is void while paths are unresolved.
    Answer check(const protocol::ApprovalRespondParams& params, PathSnapshot& paths) const;
    Action edited_action(const PendingRequest& entry, const protocol::ApprovalRespondParams& params,
                         PathSnapshot& paths) const;
    Rule grant(const PendingRequest& entry, const Action& action, const protocol::ApprovalRespondParams& params,
               PathSnapshot& paths) const;
    static Task<void> apply(std::shared_ptr<Impl> self, protocol::ApprovalRespondParams params, Answer answer);
    static Task<Rule> policy_add(std::shared_ptr<Impl> self, protocol::PolicyAddParams params);
    // The result of an evaluation that needs_use(), once the use is taken; another one if there was none left.
    static Task<PolicyResult> use_rule(std::shared_ptr<Impl> self, PendingRequestPtr entry, PolicyResult result);
    // The same of a request that waits, which is settled then.
    void settle_by_use(const PendingRequestPtr& entry, PolicyResult result);
    static Task<void> settle_by_use_of(std::shared_ptr<Impl> self, PendingRequestPtr entry, PolicyResult result);
    static Task<void> store_rule(std::shared_ptr<Impl> self, Rule rule);
    static Task<void> policy_remove(std::shared_ptr<Impl> self, std::string rule_id);
    static Task<std::vector<bool>> policy_covers(std::shared_ptr<Impl> self, protocol::RuleSpec spec,
                                                 std::vector<protocol::Action> actions);
    static Task<protocol::PolicyExplainResult> policy_explain(std::shared_ptr<Impl> self,
                                                              protocol::PolicyExplainParams params);

    bool can_elicit(const Request& request) const {
        // Output that an agent is to get after a user's yes is not sent to the agent's program for it.
        return request.agent && !std::holds_alternative<Output>(request.action) && options.elicitor != nullptr &&
               options.elicitor->can_elicit(request);
    }
    static Task<void> elicit(std::shared_ptr<Impl> self, PendingRequestPtr entry);
    Decision elicited(const PendingRequest& entry, const protocol::ApprovalElicitResult& answer);
    // A grant of exactly this action for the execution; nothing if the execution has ended.
    static Task<std::optional<Rule>> grant_until_end(std::shared_ptr<Impl> self, PendingRequestPtr entry);
    static Task<void> detach_after_linger(std::shared_ptr<Impl> self, Duration linger);

    Clock& clock;
    GateOptions options;
    PolicyEngine policy;
    ApiDocuments documents;
    Definitions definitions;
    Decisions decisions;
    std::vector<RecordSink*> sinks{&decisions};
    ActionId last_action = 0;
    std::vector<ApprovalClient*> clients;
    ApprovalQueue approvals;
    std::map<std::string, PendingCount> running;
    std::set<std::string> changed_queues;
    std::deque<std::function<void()>> outbox;
    bool pumping = false;
    bool pumps_soon = false;
    bool closed = false;
    std::shared_ptr<CancelState> linger; // while the last client, which has vanished, is expected back
    TaskScope scope;
};

} // namespace cellgate::gate
