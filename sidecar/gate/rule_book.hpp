#pragma once
// `RuleBook` is all rules and grants in force: those built in and given at the start, those stored for the user and for
// the workspace, and those of sessions and of running executions. It evaluates an action against them, and never
// prompts. Rules are written to the disk off the loop, in the order of the calls; a stored rule is in force once it is
// on the disk.

#include "base/clock.hpp"
#include "base/sync.hpp"
#include "gate/session_rule.hpp"
#include "paths.hpp"
#include "payload.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/policy.hpp"
#include "rule_store.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::gate {

struct PolicyResult {
    protocol::Effect effect = protocol::Effect::ask;
    std::optional<protocol::Rule> rule; // none when none applies
    std::string reason;
    // Of allow rules that would apply, and of deny and ask rules that do: which has a test that comes out otherwise.
    std::vector<std::string> failed_tests = {};

    // An allow that holds only once RuleBook::use() has taken one of the rule's uses.
    bool needs_use() const { return effect == protocol::Effect::allow && rule && rule->uses; }
    // How a yes has to be confirmed.
    std::optional<protocol::ConfirmationMeans> confirm() const { return rule ? rule->confirm : std::nullopt; }
};

// The holder of a grant of a session or an execution: an agent, by its client's number; none is a user.
using Grantee = std::optional<std::uint64_t>;

// The origin of an action: it determines whose grants count, and whether a user can be asked.
struct RequestContext {
    std::optional<std::string> session_id;
    std::optional<std::string> execution_id;
    bool from_code = false;                // code in the session's kernel makes it
    Grantee agent = std::nullopt;          // on whose behalf it is made
    bool needs_explicit_host_rule = false; // only an allow rule that names the host counts
};

class RuleBook {
  public:
    // Throws Error{config_invalid} when the policy directory is inside the root.
    RuleBook(Clock& clock, RunBlocking run_blocking, std::string root, const std::string& policy_directory);

    // Reads stored rules again if they have changed. True when they have.
    bool refresh();
    // Grows when refresh() read stored rules.
    std::uint64_t stored_version() const { return user_.times_read() + workspace_.times_read(); }
    // Throws Error{policy_unreadable} when stored rules cannot be read.
    void require_readable() const;

    // The result is void while paths are unresolved.
    PolicyResult evaluate(const Payload& payload, const RequestContext& context, PathSnapshot& paths) const;
    std::vector<protocol::Rule> in_force() const;
    // Of kind `request`, of all sources that count for the context.
    std::vector<protocol::Rule> request_rules(const RequestContext& context) const;
    // The same with the effect `review`.
    std::vector<protocol::Rule> review_rules(const RequestContext& context) const;

    // Adds rules of any source; those of stores are written first, all or none of a store. What is in `grantees`, by
    // the rule's id, covers no other grantee; `confirmed`: it covers what ask rules with confirm are about. Throws
    // Error{policy_unreadable} or {store_failed}; then none was added. Await it shielded.
    Task<void> add(std::vector<protocol::Rule> rules, std::map<std::string, Grantee> grantees = {},
                   bool confirmed = false);
    // Adds a rule that the sidecar starts with, or that a user gives for as long as it runs.
    void configure(protocol::Rule rule) { configured_.push_back(std::move(rule)); }
    // Removes what configure() added, if it is still there.
    void withdraw(const std::string& rule_id);
    // Throws Error{rule_invalid} when no rule has the id, or the rule is built in. Await it shielded.
    Task<void> remove(std::string rule_id);

    // Takes one of the uses of a rule that has a number of them, and the rule away with the last one. What is left;
    // nothing when the rule is gone, or has no number any more. Of a stored rule it is on the disk then, so that no
    // other sidecar can take the same one. Throws as add(). Await it shielded.
    Task<std::optional<std::int64_t>> use(std::string rule_id);

    void set_session_rules(const std::string& session_id, const std::vector<SessionRule>& rules);
    void begin_execution(const std::string& session_id, const std::string& execution_id, protocol::ApprovalMode mode,
                         const std::vector<std::string>& hosts);
    void end_execution(const std::string& execution_id);
    void end_session(const std::string& session_id);
    bool is_running(const RequestContext& context) const;

    const std::string& root() const { return root_; }
    WallTime now() const { return clock_.wall(); }

  private:
    struct Execution {
        std::string session_id;
        protocol::ApprovalMode mode;
        std::vector<protocol::Rule> rules;
    };
    // What is known of a grant of a session or an execution.
    struct Given {
        Grantee to;
        bool confirmed = false; // by a security key
    };
    const Execution* running(const RequestContext& context) const;
    bool prompts_disabled(const RequestContext& context) const;
    Task<void> write(RuleStore* store, std::function<void(std::vector<protocol::Rule>&)> change);
    static Task<void> read_again(RuleStore* store);
    std::vector<const std::vector<protocol::Rule>*> rules_for(const RequestContext& context) const;
    template <class Wanted>
    std::vector<protocol::Rule> rules_where(const RequestContext& context, const Wanted& wanted) const;
    int rank_of(const protocol::Rule& rule) const;
    bool applies_to(const protocol::Rule& rule, const RequestContext& context) const;
    void forget(const std::vector<protocol::Rule>& rules);

    Clock& clock_;
    RunBlocking run_blocking_;
    std::string root_;
    RuleStore user_;
    RuleStore workspace_;
    std::vector<protocol::Rule> configured_;
    std::map<std::string, std::vector<protocol::Rule>> sessions_;
    std::map<std::string, std::vector<std::string>> from_settings_; // ids of these, by session
    std::map<std::string, protocol::ApprovalMode> last_modes_;      // by session: of the execution that began last
    std::map<std::string, Execution> executions_;
    std::map<std::string, Given> given_; // by the id of a rule
    Mutex writing_;                      // one store at a time
};

} // namespace cellgate::gate
