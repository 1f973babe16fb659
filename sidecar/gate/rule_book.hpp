#pragma once
// All rules and grants in force, and what they say of an action: built in and given at the start, stored for the user
// and for the workspace, and those of sessions and of executions that run. It decides, but asks nobody. What is stored
// is written off the loop, in the order in which it was asked for, and is in force when it is on the disk.

#include "base/clock.hpp"
#include "paths.hpp"
#include "payload.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/policy.hpp"
#include "rule_store.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::gate {

struct PolicyResult {
    protocol::Effect effect = protocol::Effect::ask;
    std::optional<protocol::Rule> rule; // none when none applies
    std::string reason;
};

// Whom an allow of a session or an execution was given to: an agent, by its client, or none, which is a user.
using Grantee = std::optional<std::uint64_t>;

// Where an action comes from: whose grants count, and whether a user can be asked.
struct Place {
    std::optional<std::string> session_id;
    std::optional<std::string> execution_id;
    bool from_code = false;           // code in the session's kernel makes it
    Grantee agent = std::nullopt; // on whose behalf
    bool needs_explicit_host_rule = false;        // no allow counts but one that names the host
};

class RuleBook {
  public:
    // Throws Error{config_invalid} when the policy directory is inside the root.
    RuleBook(Clock& clock, RunBlocking run_blocking, std::string root, const std::string& policy_directory);

    // Looks whether stored rules have changed. True when they have.
    bool refresh();
    // Throws Error{policy_unreadable} when stored rules cannot be read.
    void require_readable() const;

    // Says nothing while paths are unresolved.
    PolicyResult evaluate(const Payload& payload, const Place& place, PathSnapshot& paths) const;
    std::vector<protocol::Rule> in_force() const;

    // Adds rules of any source; those of stores are written first, all or none of a store. What is in `grantees`, by
    // the rule's id, covers nobody else. Throws Error{policy_unreadable} or {store_failed}; then none was added. Await
    // it shielded.
    Task<void> add(std::vector<protocol::Rule> rules, std::map<std::string, Grantee> grantees = {});
    // One that the sidecar starts with, or is given by a user for as long as it runs.
    void configure(protocol::Rule rule) { configured_.push_back(std::move(rule)); }
    // Takes back what was configured, if it is still there.
    void withdraw(const std::string& rule_id);
    // Throws Error{rule_invalid} when there is none, or it is built in. Await it shielded.
    Task<void> remove(std::string rule_id);

    void set_session_rules(const std::string& session_id, const std::vector<protocol::RuleSpec>& rules);
    void begin_execution(const std::string& session_id, const std::string& execution_id, protocol::ApprovalMode mode,
                         const std::vector<std::string>& hosts);
    void end_execution(const std::string& execution_id);
    void end_session(const std::string& session_id);
    bool is_running(const Place& place) const;

    const std::string& root() const { return root_; }
    WallTime now() const { return clock_.wall(); }

  private:
    struct Execution {
        std::string session_id;
        protocol::ApprovalMode mode;
        std::vector<protocol::Rule> rules;
    };
    const Execution* running(const Place& place) const;
    bool prompts_disabled(const Place& place) const;
    Task<void> write(RuleStore* store, std::function<void(std::vector<protocol::Rule>&)> change);
    std::vector<const std::vector<protocol::Rule>*> rules_for(const Place& place) const;
    bool applies_to(const protocol::Rule& rule, const Place& place) const;
    void forget(const std::vector<protocol::Rule>& rules);

    Clock& clock_;
    RunBlocking run_blocking_;
    std::string root_;
    RuleStore user_;
    RuleStore workspace_;
    std::vector<protocol::Rule> configured_;
    std::map<std::string, std::vector<protocol::Rule>> sessions_;
    std::map<std::string, std::vector<std::string>> from_settings_; // of these, by session
    std::map<std::string, protocol::ApprovalMode> last_modes_; // of each session's executions the one that began last
    std::map<std::string, Execution> executions_;
    std::map<std::string, Grantee> grantees_; // by the id of a rule
    std::shared_ptr<Event> last_write_;           // set when it has ended
};

} // namespace cellgate::gate
