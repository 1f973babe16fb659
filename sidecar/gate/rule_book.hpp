#pragma once
// All rules and grants in force, and what they say of an action: built in and given at the start, stored for the user
// and for the workspace, and those of sessions and of executions that run. It decides, but asks nobody.

#include "base/clock.hpp"
#include "payload.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/policy.hpp"
#include "rule_store.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::gate {

struct Ruling {
    protocol::Effect effect = protocol::Effect::ask;
    std::optional<protocol::Rule> rule; // none when none applies
    std::string reason;
};

// Whose grants count.
struct Place {
    std::optional<std::string> session_id;
    std::optional<std::string> execution_id;
};

class RuleBook {
  public:
    // Throws Error{config_invalid} when the policy directory is inside the root.
    RuleBook(Clock& clock, std::string root, const std::string& policy_directory);

    // Looks whether stored rules have changed. True when they have.
    bool refresh();
    // Throws Error{policy_unreadable} when stored rules cannot be read.
    void require_readable() const;

    Ruling rule_on(const Payload& payload, const Place& place) const;
    std::vector<protocol::Rule> in_force() const;

    // Adds rules of any source; those of stores are written first, all or none of a store. Throws
    // Error{policy_unreadable} or {store_failed}; then none was added.
    void add(const std::vector<protocol::Rule>& rules);
    // Throws Error{rule_invalid} when there is none, or it is built in.
    void remove(const std::string& rule_id);

    void begin_execution(const std::string& session_id, const std::string& execution_id, protocol::ApprovalMode mode);
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
    std::vector<const std::vector<protocol::Rule>*> rules_for(const Place& place) const;

    Clock& clock_;
    std::string root_;
    RuleStore user_;
    RuleStore workspace_;
    std::vector<protocol::Rule> configured_;
    std::map<std::string, std::vector<protocol::Rule>> sessions_;
    std::map<std::string, Execution> executions_;
};

} // namespace cellgate::gate
