#pragma once
// `Gate` is the policy decision point: it turns an action into a decision. Enforcement points call decide() and run
// what the `Decision` holds, nothing else. Users are attached as `ApprovalClient`s and answer by respond(). The gate
// guarantees:
//
//   - the order: deny rule > grant of this execution or session > ask rule > allow rule or stored grant > ask; an ask
//     rule with confirm also comes before the grants that were not confirmed, and no yes to it counts without;
//   - an answer without a rule covers exactly the payload that was shown; an answer with a rule covers what the rule
//     covers, bound to the identities of the tool server and of the tool's definition: a change voids it;
//   - starting a program, installs, network connections, and what writes or runs something on the host are
//     covered by exact payload alone (requires_exact_payload()); for a connection, naming the host is enough;
//   - output to an agent is asked about where the session has results that a user wants to see first, else allowed;
//   - an action that no rule decides is denied immediately when no user is attached or expected back; everything is
//     denied while a stored policy cannot be read;
//   - the first answer wins, an answer to several approvals answers all or none, and every client is notified;
//   - the decision history is readable, also of actions that were decided without an approval, with what became of
//   each;
//   - work that may block (paths that code chose, the disk) runs off the loop, and delays no other action.
//
// The gate never calls up: enforcement points and users are given by interface. It runs on one thread. The composition
// root makes it, and awaits close() before destroying it. Stored rules are in `policy_directory`, outside the
// workspace.

#include "base/clock.hpp"
#include "base/run_blocking.hpp"
#include "base/task.hpp"
#include "gate/api_document.hpp"
#include "gate/decision.hpp"
#include "gate/record_sink.hpp"
#include "gate/session_rule.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/policy.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::gate {

// A user's client that can answer. Called from inside the gate, in order; may call back into it.
struct ApprovalClient {
    virtual void on_requested(const protocol::Approval& approval) = 0;
    virtual void on_resolved(const protocol::ApprovalResolvedParams& resolved) = 0;

  protected:
    ~ApprovalClient() = default;
};

// Shows an approval in the agent's own program, for the user of that program, while no user is attached. A yes covers
// exactly what was shown, once, or until the execution ends if that was offered; it makes no stored rule.
struct Elicitor {
    virtual bool can_elicit(const Request& request) const = 0; // of an agent
    // Cancelling withdraws the question.
    virtual Task<protocol::ApprovalElicitResult> elicit(Agent agent, protocol::Approval approval,
                                                        bool until_cell_ends) = 0;

  protected:
    ~Elicitor() = default;
};

// Has the user of this machine confirm an answer, which `text` says.
struct Confirmer {
    // Throws Error{not_confirmed} with a reason for people. Cancelling gives up.
    virtual Task<protocol::Confirmation> confirm(std::string text) = 0;

  protected:
    ~Confirmer() = default;
};

// An execution that starts to run, and its grants. Mode `allow` is recorded as a grant of the execution, which covers
// everything but starting a tool server; only a user may choose it, which the caller has checked. `hosts` are
// HostPatterns (base/host.hpp) that it may connect to, each a grant too.
struct ExecutionGrants {
    std::string session_id;
    std::string execution_id;
    protocol::ApprovalMode mode = protocol::ApprovalMode::ask;
    std::vector<std::string> hosts;
    std::function<void(std::size_t pending)> on_pending; // how many of its calls wait for a user, at each change
};

struct GateOptions {
    std::string root;               // the workspace, for paths in rules
    std::string policy_directory;   // outside `root`; made when something is first stored
    Elicitor* elicitor = nullptr;   // stays as long as the gate
    Confirmer* confirmer = nullptr; // likewise; without one, no yes that has to be confirmed is
    RecordSink* record = nullptr;   // likewise; receives what the gate's own history receives
    RunBlocking run_blocking;
};

class Gate {
  public:
    // Further calls of a session wait in its queue.
    static constexpr std::size_t max_pending_per_session = 64;
    static constexpr std::size_t max_pending_bytes_per_session = std::size_t{32} << 20; // or one larger approval

    // Throws Error{config_invalid} when the policy directory is inside the root.
    Gate(Clock& clock, GateOptions options);
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    ~Gate();

    // Decides, and asks a user where no rule decides. Returns once the decision is recorded, unless the request waits
    // for that itself; then an allow by a rule without paths takes no further turn of the loop. Cancelling the awaiting
    // task withdraws the approval. Throws Error{limit_exceeded} for arguments over 8 MiB, Error{internal_error} for an
    // action that is not complete.
    Task<Decision> decide(Request request);

    // Until all decisions are recorded; no effect of an action is reported before.
    Task<void> recorded();

    // RecordSink::trace_parent() of an action that was allowed.
    std::string trace_parent(const Decision& decision, const std::optional<std::string>& execution_id) const;

    // Whether the requests to the host of this action, a Connection or an HttpRequest, are judged one by one.
    bool inspects(const Request& request);
    // What rules put into this request, an HttpRequest, once it is allowed. A rule that surely covers it counts.
    std::vector<protocol::Injection> injections(const Request& request);
    // Whether a review rule covers this call, a ToolCall or a HostCall. One that may cover it counts.
    Task<bool> reviews(Request request);
    // Whether an agent gets this, an Output of which the text does not matter, without a question and without end.
    bool allows_output(const Request& request);
    // What an inspect rule names for this host, a HostPattern (base/host.hpp). Throws Error{rule_invalid}.
    Task<std::shared_ptr<const ApiDocument>> api_document(std::string host);
    // The rules about requests that count for a session, or for tool servers.
    std::vector<protocol::Rule> request_rules(const std::optional<std::string>& session_id);

    // Of an action that was allowed: the enforcement point holds it while the action goes on. Of any other, it reports
    // nothing.
    OutcomeReport outcome_report(const Decision& decision);

    // Replaces the session's rules that come from a user's settings, or are those of a saved tool. Throws
    // Error{rule_invalid}.
    void set_session_rules(const std::string& session_id, const std::vector<SessionRule>& rules);
    void begin_execution(ExecutionGrants execution);
    // Ends the execution's grants. Calls that wait go on waiting; an answer cannot cover the execution any more.
    void end_execution(const std::string& execution_id);
    // Another question of one of the execution's calls waits for a user than approvals: its clock stands still, too.
    void question_began(const std::string& execution_id);
    void question_ended(const std::string& execution_id);
    // Ends the rules and grants of the session and of its executions.
    void end_session(const std::string& session_id);

    // `client` must stay until it is detached. It is notified of the pending approvals.
    void attach(ApprovalClient& client);
    // After the last client, pending approvals and calls that arrive meanwhile wait for `linger`, and are then denied.
    void detach(ApprovalClient& client, Duration linger);

    // Returns when the answer is in force; a stored rule is on the disk then. Throws Error: approval_resolved,
    // approval_not_found, edit_invalid, rule_invalid, policy_unreadable, store_failed, not_confirmed, invalid_params;
    // then no approval was answered. While it is being confirmed, other answers count. Cancelling gives that up.
    Task<void> respond(protocol::ApprovalRespondParams params);

    // Adds a rule that the sidecar starts with: built in, or from the command line. A tool server that a user gave is
    // allowed to start by a rule of kind `server` with its identity. Throws Error{rule_invalid}.
    protocol::Rule configure(protocol::RuleSpec spec, protocol::RuleSource source,
                             std::optional<std::string> server_identity = std::nullopt);
    // Removes what configure() added, if it is still there.
    void withdraw(const std::string& rule_id);

    // Another number than before if the files of stored rules have changed.
    std::uint64_t stored_rules_version();

    // policy/*. The first three throw Error{policy_unreadable} when a stored policy cannot be read; what is stored is
    // on the disk when they return.
    protocol::PolicyListResult policy_list();
    Task<protocol::Rule> policy_add(protocol::PolicyAddParams params);
    Task<protocol::PolicyExplainResult> policy_explain(protocol::PolicyExplainParams params);
    // Of each action whether the rule would decide it, were there no other; false for one that cannot be read. Throws
    // Error{rule_invalid}.
    Task<std::vector<bool>> policy_covers(protocol::RuleSpec spec, std::vector<protocol::Action> actions);
    // "allow tool list_directory of filesystem". Throws Error{rule_invalid} for one that could not be added.
    std::string policy_words(const protocol::RuleSpec& spec) const;
    Task<void> policy_remove(std::string rule_id);
    protocol::PolicyDecisionsResult policy_decisions() const;

    // Cancels the pending approvals, and refuses every later action.
    Task<void> close();

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_; // shared with calls that end while the gate notifies clients
};

} // namespace cellgate::gate
