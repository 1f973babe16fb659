#pragma once
// `PolicyHistory` is what the record says about rules: which past actions a rule would have covered, the narrowest rule
// that covers some of them, and the rules for what an execution was allowed.

#include "activity_record.hpp"
#include "base/clock.hpp"
#include "gate/gate.hpp"
#include "protocol/messages/policy.hpp"

#include <string>
#include <vector>

namespace cellgate::service {

class PolicyHistory {
  public:
    // All must outlive it.
    PolicyHistory(const Clock& clock, gate::Gate& gate, ActivityRecord& activity)
        : clock_(clock), gate_(gate), activity_(activity) {}

    // Throws Error{rule_invalid}.
    Task<protocol::PolicyPreviewResult> preview(protocol::PolicyPreviewParams params);
    // Throws Error{rule_invalid} for actions that no rule covers together, or that are not in the record whole.
    Task<protocol::PolicyParseResult> suggest(protocol::PolicySuggestParams params);
    // tools::execution_rules() of an execution, be it of another sidecar. Throws Error{execution_not_found}, and
    // Error{arguments_invalid} for one with too many decisions.
    Task<std::vector<std::string>> rules_of(std::string execution_id);

  private:
    Task<void> count_covered(const protocol::RuleSpec* rule, std::vector<protocol::RecordEntry> entries,
                             protocol::PolicyPreviewResult* result);

    const Clock& clock_;
    gate::Gate& gate_;
    ActivityRecord& activity_;
};

} // namespace cellgate::service
