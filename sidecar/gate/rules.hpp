#pragma once
// check_rule() and applies() are the semantics of one rule: whether it is valid, and whether it applies to an action.

#include "base/clock.hpp"
#include "match.hpp"
#include "paths.hpp"
#include "payload.hpp"
#include "protocol/messages/policy.hpp"

#include <optional>
#include <string>

namespace cellgate::gate {

// A rule in force, with a new id, from the rule as it was written.
protocol::Rule make_rule(protocol::RuleSpec spec, protocol::RuleSource source, WallTime now);

// Throws Error{rule_invalid}: a malformed pointer, matcher or time, a name that is empty, an allow rule without a kind,
// uses of another one, tests that cannot be.
void check_rule(const protocol::Rule& rule);
// The same for a new one, which also must not have expired, nor be an allow rule that could never allow anything since
// its kind needs the exact payload.
void check_new_rule(const protocol::Rule& rule, WallTime now);

bool is_expired(const protocol::Rule& rule, WallTime now);

// Whether the rule's fields hold for the action, whatever its effect. Ignores the rule's grantee and its expiry. The
// results of this and of applies() are void while paths are unresolved.
Match matches(const protocol::Rule& rule, const Payload& payload, PathSnapshot& paths);

// The same of the rule's conditions on arguments alone. Of a match that is not certain also the condition of the rule
// that prevents it.
struct ArgumentsMatch {
    Match match = Match::yes;
    const std::pair<const std::string, protocol::Matcher>* condition = nullptr;
};
ArgumentsMatch match_arguments(const protocol::Rule& rule, const RawJson* arguments, PathSnapshot& paths,
                               bool has_own_folder = false);

// Whether the rule decides: an allow rule only by a certain match, and for requires_exact_payload() actions only when
// it binds them exactly; the other effects also by an unclear match.
bool applies(const protocol::Rule& rule, const Payload& payload, PathSnapshot& paths);

// Whether the requests of a host are judged one by one because of this rule: any about requests that names it.
bool inspects(const protocol::Rule& rule, const Payload::Names& names);

// A condition in one line that is safe to show: "/path under data".
std::string describe_condition(const std::string& pointer, const protocol::Matcher& matcher);
// "rule c41d… (session): allow tool list_directory of filesystem", in one line that is safe to show.
std::string describe(const protocol::Rule& rule);
// "allow tool list_directory of filesystem".
std::string describe_spec(const protocol::Rule& rule);

} // namespace cellgate::gate
