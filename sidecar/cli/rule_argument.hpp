#pragma once
// `--allow RULE` on the command line.

#include "protocol/messages/policy.hpp"

#include <string>

namespace cellgate::cli {

inline constexpr const char* rule_help =
    "Allow calls without asking: SERVER/TOOL, with conditions on arguments after spaces: "
    "'filesystem/read_file path=under:data' or 'notes/add title=glob:draft-*' or 'db/query limit=10'. "
    "SERVER/* allows every tool of one server. What `host` writes or runs cannot be allowed this way. May be given "
    "more "
    "than once";

// Throws Error{rule_invalid}. A rule for every server or everything is refused.
protocol::RuleSpec parse_allow_rule(const std::string& text);

} // namespace cellgate::cli
