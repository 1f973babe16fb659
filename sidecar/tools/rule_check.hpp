#pragma once
// `check_rule` finds a rule that no call of a server can meet, because of its conditions on arguments: an argument that
// the tool does not have, or a value that it never takes. It also finds one of a tool that `host` does not have, or
// whose name differs from that of a tool in case or in the signs between words alone (get_sum for get-sum). Such a rule
// would never match, and its author would not learn it. Only what is certain is a problem: what a schema leaves open,
// or refers elsewhere for, passes.

#include "protocol/messages/policy.hpp"
#include "tool.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::tools {

struct RuleProblem {
    std::string what; // safe to show
    std::string hint; // names the nearest argument; may be empty
};

// Of conditions on an object. An empty schema takes everything.
std::optional<RuleProblem> check_conditions(const std::string& schema,
                                            const std::map<std::string, protocol::Matcher>& conditions);

// `tools`: all of that server. Nothing for a rule about another server, or of all servers.
std::optional<RuleProblem> check_rule(const protocol::RuleSpec& rule, const std::string& server,
                                      const std::vector<ToolPtr>& tools);

} // namespace cellgate::tools
