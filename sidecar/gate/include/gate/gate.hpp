#pragma once
// The gate: the one place that turns an action into a decision. Doors call decide() and run what the Decision holds,
// nothing else; users are attached as Answerers and answer by respond(). The gate guarantees:
//
//   - the order: deny rule > grant of this execution or session > ask rule > allow rule or stored grant > ask;
//   - an answer without a rule covers exactly the payload that was shown, one with a rule what the rule says, bound to
//     the identities of the tool server and of the tool's definition: a change voids it;
//   - starting a program, shell, installs, network connections, and what writes or runs something on the host are
//     covered by exact payload alone (requires_exact_payload()); for a connection, naming the host is enough;
//   - nobody attached, nobody expected back, and no rule: denied at once; a stored policy that cannot be read:
//     everything is denied;
//   - the first answer wins, an answer to several approvals answers all or none, and every client is told;
//   - what it decided lately can be seen, also what nobody was asked about;
//   - what may block (paths that code chose, the disk) is done off the loop, and holds up nobody else.
//
// It never calls up: who asks and who answers are given by interface. One thread; made by the composition root, which
// awaits close() before it lets go of it. Stored rules live in `policy_directory`, outside the workspace.

#include "base/clock.hpp"
#include "base/run_blocking.hpp"
#include "base/task.hpp"
#include "gate/agent.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/policy.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::gate {

// What a door asks.
struct Request {
    // Complete: a `tool` has server, tool, arguments and both identities; a `server` its identity.
    protocol::Action action;
    std::optional<std::string> session_id;
    // What runs in that session by the sidecar's own record; none when nothing does.
    std::optional<std::string> execution_id;
    // Code in the session's kernel makes it. While nothing runs, it asks nobody if the execution that began last ran
    // with approvals "deny".
    bool from_code = false;
    std::optional<Agent> agent; // on whose behalf, when it is one's
    std::optional<protocol::Origin> origin;
    protocol::Hints hints; // as the tool server sent them; the gate makes them safe to show
    // Where only a rule that names the host can allow it: why. Nobody is asked then, no wider grant counts, and this is
    // the reason of the denial.
    std::optional<std::string> needs_explicit_host_rule;
    // Only a deny rule can stop it: what it is a part of was allowed already. Nobody is asked.
    bool deny_rules_only = false;
    // The action with these arguments in place of its own: checks them against the tool's schema, resolves what depends
    // on them. Throws Error when they do not fit. Empty: the action cannot be edited.
    std::function<protocol::Action(const RawJson& arguments)> edit;
};

struct Decision {
    bool allowed = false;
    protocol::Action action; // the one that may run: as it was asked, or as a user edited it
    bool edited = false;
    std::string reason; // why, in words; for the code when it is denied
    protocol::ResolvedBy by = protocol::ResolvedBy::rule;
    std::optional<protocol::Rule> rule; // that decided, or that the answer made
};

// A client of a user that can answer. Called from inside the gate, in order; may call back into it.
struct ApprovalClient {
    virtual void on_requested(const protocol::Approval& approval) = 0;
    virtual void on_resolved(const protocol::ApprovalResolvedParams& resolved) = 0;

  protected:
    ~ApprovalClient() = default;
};

// Puts a entry to whoever sits at an agent's own program, where no user is attached. A yes is for exactly what was
// shown, once; it makes no rule.
struct Elicitor {
    virtual bool can_elicit(const Agent& agent) const = 0;
    // Cancelling withdraws the entry.
    virtual Task<bool> elicit(Agent agent, protocol::Approval approval) = 0;

  protected:
    ~Elicitor() = default;
};

// An execution that starts to run. `allow` is a user's word: it is recorded as a grant of the execution, which covers
// everything but starting a tool server. Whether the client may say it is checked before.
// `hosts`, HostPatterns (base/host.hpp) that it may connect to, is such a grant too.
struct ExecutionGrants {
    std::string session_id;
    std::string execution_id;
    protocol::ApprovalMode mode = protocol::ApprovalMode::ask;
    std::vector<std::string> hosts;
    std::function<void(std::size_t pending)> on_pending; // how many of its calls wait for a user, at each change
};

struct GateOptions {
    std::string root;             // the workspace, for paths in rules
    std::string policy_directory; // outside `root`; made when something is first stored
    std::optional<Duration> approval_timeout;
    Elicitor* elicitor = nullptr; // stays as long as the gate
    RunBlocking run_blocking;
};

class Gate {
  public:
    // What else a session asks waits its turn.
    static constexpr std::size_t max_pending_per_session = 64;
    static constexpr std::size_t max_pending_bytes_per_session = std::size_t{32} << 20; // or one that is larger

    // Throws Error{config_invalid} when the policy directory is inside the root.
    Gate(Clock& clock, GateOptions options);
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    ~Gate();

    // Decides, asking if need be. An allow by a rule that looks at no path takes no other turn of the loop. Cancelling
    // the awaiting task withdraws the entry. Throws Error{limit_exceeded} for arguments over 8 MiB,
    // Error{internal_error} for an action that is not complete.
    Task<Decision> decide(Request request);

    // What a user's settings allow and deny to the session, as rules of it, in place of those that this gave before.
    // Throws Error{rule_invalid}.
    void set_session_rules(const std::string& session_id, const std::vector<protocol::RuleSpec>& rules);
    void begin_execution(ExecutionGrants execution);
    // Its grants end. Calls that still wait go on waiting; an answer cannot cover the execution any more.
    void end_execution(const std::string& execution_id);
    // Its rules and grants end, and those of its executions.
    void end_session(const std::string& session_id);

    // `client` must stay until it is detached. It is told of what is pending.
    void attach(ApprovalClient& client);
    // If it was the last one, what is pending, and what is asked meanwhile, waits for `linger`, and is denied then.
    void detach(ApprovalClient& client, Duration linger);

    // What is pending, oldest first: as much as a message holds.
    protocol::ApprovalListResult list(const protocol::ApprovalListParams& params) const;
    // Returns when it holds; a rule that is stored is on the disk then. Throws Error: approval_resolved,
    // approval_not_found, edit_invalid, rule_invalid, policy_unreadable, store_failed, invalid_params. Then nothing was
    // answered.
    Task<void> respond(protocol::ApprovalRespondParams params);

    // A rule that the sidecar starts with: built in, from a user's initializationOptions, or from the command line. A
    // tool server that a user gave is allowed to start by a rule of kind `server` with its identity. Throws
    // Error{rule_invalid}, as check() does without adding it.
    protocol::Rule configure(protocol::RuleSpec spec, protocol::RuleSource source,
                             std::optional<std::string> server_identity = std::nullopt);
    void check(protocol::RuleSpec spec, protocol::RuleSource source) const;
    // Takes back what configure() added, if it is still there.
    void withdraw(const std::string& rule_id);

    // policy/*. The first three throw Error{policy_unreadable} when a stored policy cannot be read; what is stored is
    // on the disk when they return.
    protocol::PolicyListResult policy_list();
    Task<protocol::Rule> policy_add(protocol::PolicyAddParams params);
    Task<protocol::PolicyExplainResult> policy_explain(protocol::PolicyExplainParams params);
    Task<void> policy_remove(std::string rule_id);
    protocol::PolicyDecisionsResult policy_decisions() const;

    // Ends what is pending as cancelled and refuses what comes after.
    Task<void> close();

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_; // shared with calls that end while the gate tells of it
};

} // namespace cellgate::gate
