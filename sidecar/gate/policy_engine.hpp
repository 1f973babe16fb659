#pragma once
// `PolicyEngine` is the rules together with the resolution of the paths that they need: it evaluates, makes and
// explains rules, and knows nothing of approvals or clients. Private to the gate.

#include "paths.hpp"
#include "payload.hpp"
#include "rule_book.hpp"

#include <set>
#include <string>
#include <vector>

namespace cellgate::gate {

class PolicyEngine {
  public:
    // Throws Error{config_invalid} when the policy directory is inside the root.
    PolicyEngine(Clock& clock, const RunBlocking& run_blocking, const std::string& root,
                 const std::string& policy_directory)
        : rules_(clock, run_blocking, root, policy_directory), resolver_(clock, run_blocking) {}

    RuleBook& rules() { return rules_; }
    const RuleBook& rules() const { return rules_; }

    PathSnapshot snapshot() const { return PathSnapshot(rules_.root()); }
    // Resolves what an evaluation with `paths` lacked; it is evaluated again then.
    Task<void> resolve(PathSnapshot& paths) { return resolver_.resolve(paths); }
    // RuleBook::evaluate() with every path resolved. Takes no other turn of the loop when the rules need no path.
    Task<PolicyResult> evaluate(const Payload& payload, const RequestContext& context);

    // Whether a review rule covers the call, or may.
    Task<bool> reviews(const Payload& payload, const RequestContext& context);

    // The rule that policy/add asks for, not yet in force. Throws Error{invalid_params} or {rule_invalid}.
    protocol::Rule make_added_rule(protocol::PolicyAddParams params) const;
    // Throws Error{rule_invalid} for a rule with a test that comes out otherwise.
    Task<void> require_tests(const protocol::Rule* rule);
    // By the rules alone. Throws Error{policy_unreadable} or {invalid_params}.
    Task<protocol::PolicyExplainResult> explain(protocol::PolicyExplainParams params);

    // As Gate::policy_covers().
    Task<std::vector<bool>> covers(protocol::RuleSpec spec, std::vector<protocol::Action> actions);
    // Of the user's own, not in force. Throws Error{rule_invalid}.
    protocol::Rule make_checked_rule(protocol::RuleSpec spec) const;

    Task<void> close() { return resolver_.close(); }

  private:
    RuleBook rules_;
    PathResolver resolver_;
    std::set<std::string> logged_; // of failed tests
};

} // namespace cellgate::gate
