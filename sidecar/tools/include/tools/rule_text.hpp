#pragma once
// `parse_allow_rule` and `allow_rule_for` are the reader and the writer of `--allow RULE`, the short form of an allow
// rule; `parse_rule` reads that of every rule.
//
//   allow request api.github.com                             any request to the host
//   deny request api.github.com DELETE,PUT /repos/**         of these methods, to these paths
//   ask request api.github.com POST /graphql query=glob:**mutation**   with a body of JSON such as this
//   allow request api.github.com read-only                   GET and HEAD
//   allow request github.com git-fetch /ada/plan.git         what a fetch from the repository needs
//   inspect request api.github.com --bearer ${secret:TOKEN} --variable GH_TOKEN
//                         or: --basic user:${secret:TOKEN}, --header "X-Key: ${secret:TOKEN}", --query
//                         key=${secret:TOKEN}
//   inspect request api.github.com --openapi /home/ada/api.github.com.json
//   allow request api.github.com --operation issues/create owner=ada     as that document calls it

#include "base/clock.hpp"
#include "protocol/messages/policy.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cellgate::tools {

// The grammar, for a user.
inline constexpr const char* rule_help = R"(RULE
  SERVER/TOOL                  any call of that tool; SERVER/* is every tool of that server
  SERVER/TOOL ARGUMENT=VALUE   only with this argument; more of them, each after a space
  SERVER/TOOL ={...}           only with exactly these arguments, as JSON. Nothing else covers what `host`
                               writes or runs
  VALUE is a word, JSON, under:DIR (the folder or something in it), glob:PATTERN (* stops at /, ** does not),
  in:[...] (one of these values) or less:NUMBER.
  request HOST METHODS PATH    requests of HTTP: request api.github.com GET,HEAD /repos/**. All but HOST may be left
                               out; conditions as above are on a body of JSON. read-only in place of METHODS is
                               GET,HEAD; git-fetch is what git fetch needs, and PATH then a repository
  Behind it, --uses 10 makes it end after ten calls that it allowed, --expires 12h after that time; --touch behind an
  ask rule wants each yes confirmed by a touch of your security key.
  What holds spaces, quotes or braces is written as a JSON string, names too:
    --allow 'filesystem/read_file path=under:"my data"'
    --allow 'notes/add title="two words" tags=["a","b"] limit=10')";

// The JSON pointer to a member of the arguments.
std::string pointer_to(std::string_view name);
// The name that it is of; nothing for a pointer to something within an argument, or to all of them.
std::optional<std::string> argument_name(std::string_view pointer);

// Throws Error{rule_invalid}, also for a rule that would allow every server or every action.
protocol::RuleSpec parse_allow_rule(const std::string& text, WallTime now);

// "deny SERVER/TOOL ...", "allow network HOST", "ask install", "ask output", "inspect request HOST",
// "review SERVER/TOOL ...": the effect, and what parse_allow_rule() reads or another kind. Throws Error{rule_invalid}.
// With `operation`, also "allow request HOST --operation ID": the ID, whose method and path the rule still lacks.
protocol::RuleSpec parse_rule(const std::string& text, WallTime now, std::string* operation = nullptr);

// A rule for a call with these arguments: `exactly` these, else at least these. The text is one line of printable
// characters that parse_allow_rule() reads.
std::string allow_rule_for(const std::string& server, const std::string& tool, const RawJson& arguments, bool exactly);
// Likewise for requests of this method to this path.
std::string allow_rule_for_request(const protocol::Action& request);

} // namespace cellgate::tools
