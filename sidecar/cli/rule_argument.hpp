#pragma once
// `--allow RULE` on the command line: a short spelling of an allow rule, read and written.

#include "protocol/messages/policy.hpp"

#include <string>

namespace cellgate::cli {

// The grammar, for a person.
inline constexpr const char* rule_help = R"(RULE
  SERVER/TOOL                  any call of that tool; SERVER/* is every tool of that server
  SERVER/TOOL ARGUMENT=VALUE   only with this argument; more of them, each after a space
  SERVER/TOOL ={...}           only with exactly these arguments, as JSON. Nothing else covers what `host`
                               writes or runs
  VALUE is a word, JSON, under:DIR (the folder or something in it) or glob:PATTERN (* stops at /, ** does not).
  What holds spaces, quotes or braces is written as a JSON string, names too:
    --allow 'filesystem/read_file path=under:"my data"'
    --allow 'notes/add title="two words" tags=["a","b"] limit=10')";

// Throws Error{rule_invalid}. A rule for every server or everything is refused.
protocol::RuleSpec parse_allow_rule(const std::string& text);

// The rule that covers a call with these arguments: `exactly` with all of them, else with each that it has. What it
// says is one line of visible characters, and parse_allow_rule() reads it.
std::string allow_rule_for(const std::string& server, const std::string& tool, const RawJson& arguments, bool exactly);

} // namespace cellgate::cli
