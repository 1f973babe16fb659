#include "rules.hpp"

#include "base/encoding.hpp"
#include "base/enum_name.hpp"
#include "base/host.hpp"
#include "base/json_value.hpp"
#include "base/names.hpp"
#include "columns.hpp"
#include "path_match.hpp"
#include "request_rules.hpp"
#include "rule_tests.hpp"
#include "visible_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cellgate::gate {

namespace {

using protocol::Effect;
using protocol::Matcher;
using protocol::Rule;
using protocol::RuleSource;

constexpr std::size_t max_pointers = 64;
constexpr std::size_t max_text_bytes = 1024; // of a pointer, a pattern, a path
constexpr std::int64_t max_uses = 1'000'000;
constexpr std::size_t max_listed_values = 5;
constexpr std::size_t max_value_columns = 120; // of a value, in words
constexpr std::size_t max_value_bytes = std::size_t{64} << 10;

[[noreturn]] void refuse(const std::string& message, std::string hint = {}) {
    throw Error(ErrorCode::rule_invalid, message, std::move(hint));
}

// Those that the argument may have.
std::vector<RawJson> values_of(const Matcher& matcher) {
    return matcher.equals ? std::vector<RawJson>{*matcher.equals} : matcher.in.value_or(std::vector<RawJson>());
}

void check_matcher(const std::string& pointer, const Matcher& matcher) {
    const std::string name = visible_name(pointer);
    if (!is_pointer(pointer) || pointer.size() > max_text_bytes) {
        refuse(fmt::format("expected a JSON pointer such as /path, found {}", name),
               "a pointer is empty or starts with /; ~ is written ~0 and / in a name ~1");
    }
    const std::array<bool, 5> given = {matcher.equals.has_value(), matcher.glob.has_value(), matcher.under.has_value(),
                                       matcher.in.has_value(), matcher.less_than.has_value()};
    if (std::ranges::count(given, true) != 1) {
        refuse(fmt::format("expected exactly one of equals, glob, under, in and lessThan for {}, found none or several",
                           name));
    }
    if (matcher.in && matcher.in->empty()) {
        refuse(fmt::format("expected values in the list for {}, found none", name));
    }
    for (const RawJson& value : values_of(matcher)) {
        if (value.text().size() > max_value_bytes || !is_comparable(parse_json_value(value.text()))) {
            refuse(
                fmt::format("expected a value for {} that can be compared exactly, found one that is too large", name));
        }
    }
    const std::optional<std::string>& text = matcher.glob ? matcher.glob : matcher.under;
    if (text && (text->empty() || text->size() > max_text_bytes)) {
        refuse(fmt::format("expected 1 to {} bytes for {}, found {}", max_text_bytes, name, text->size()));
    }
    if (matcher.under && !is_plain_path(*matcher.under)) {
        refuse(fmt::format("expected a plain path for {}, found {}", name, visible_name(*matcher.under)),
               "~, $, % and quotes are not expanded; write the path itself");
    }
}

Match match_equality(Equality equality) {
    switch (equality) {
    case Equality::different:
        return Match::no;
    case Equality::unclear:
        return Match::unclear;
    case Equality::equal:
        return Match::yes;
    }
    return Match::unclear;
}

Match match_number(double limit, const std::string& number) {
    const Decimal value(number);
    if (!value.is_exact()) {
        return Match::unclear;
    }
    return value.compare(Decimal(fmt::format("{}", limit))) < 0 ? Match::yes : Match::no;
}

Match match_value(const Matcher& matcher, std::string_view value, PathSnapshot& paths, bool has_own_folder) {
    if (matcher.equals || matcher.in) {
        const JsonValue found = parse_json_value(value);
        Match best = Match::no;
        for (const RawJson& wanted : values_of(matcher)) {
            best = std::max(best, match_equality(compare(parse_json_value(wanted.text()), found)));
        }
        return best;
    }
    if (matcher.less_than) {
        return json_type(value) == "number" ? match_number(*matcher.less_than, std::string(value)) : Match::no;
    }
    if (json_type(value) != "string") {
        return Match::no;
    }
    const std::string text = decode_json_string(value);
    if (matcher.under && has_own_folder && !text.starts_with('/')) {
        return Match::unclear;
    }
    return matcher.glob ? glob_match(text, *matcher.glob) : path_under(text, *matcher.under, paths);
}

// An enforcement point asks for a host in its canonical spelling.
bool host_matches(const std::string& pattern, const Payload::Names& names) {
    const std::optional<HostPattern> parsed = parse_host_pattern(pattern);
    const std::optional<Host> host = parse_host(names.host.value_or(""));
    return parsed && host && covers(*parsed, Endpoint{*host, static_cast<std::uint16_t>(names.port.value_or(0))});
}

// Whether an allow rule that matches binds the whole of an requires_exact_payload() action.
bool binds_exactly(const Rule& rule) {
    if (rule.payload_hash) {
        return true;
    }
    // What a user allowed when the execution began. It names no kind, and no program that starts outside the sandbox.
    if (rule.source == RuleSource::execution && !rule.kind) {
        return true;
    }
    if (rule.kind == ActionKind::server) {
        return rule.server_identity.has_value();
    }
    if (rule.kind == ActionKind::network || rule.kind == ActionKind::request) {
        return rule.host.has_value();
    }
    // The whole of the arguments is an object, which only `equals` can match.
    return rule.kind == ActionKind::host && rule.server && rule.tool && rule.arguments && rule.arguments->contains("");
}

// An allow rule without a protocol covers no raw bytes, unless it names this very payload. One with it also covers the
// opening of the connection; of another effect it is about the bytes alone.
bool protocol_matches(const Rule& rule, const Payload::Names& names) {
    if (rule.protocol) {
        return names.protocol == rule.protocol || (rule.effect == Effect::allow && names.kind == ActionKind::network);
    }
    const bool names_connections = rule.kind == ActionKind::network && !rule.payload_hash;
    return !names.protocol || rule.effect != Effect::allow || !names_connections;
}

std::string value_words(const RawJson& value) {
    return cut_to_line(value.text(), max_value_columns);
}

std::string condition_words(const Matcher& matcher) {
    if (matcher.glob) {
        return fmt::format(" like {}", visible_name(*matcher.glob));
    }
    if (matcher.under) {
        return fmt::format(" under {}", visible_name(*matcher.under));
    }
    if (matcher.less_than) {
        return fmt::format(" less than {}", *matcher.less_than);
    }
    if (!matcher.in) {
        return matcher.equals ? " equal to " + value_words(*matcher.equals) : " equal to a value";
    }
    if (matcher.in->size() > max_listed_values) {
        return fmt::format(" one of {} values", matcher.in->size());
    }
    std::string values;
    for (const RawJson& value : *matcher.in) {
        values += (values.empty() ? "" : ", ") + value_words(value);
    }
    return " one of " + values;
}

// How a rule names exactly what it allows of a tool of `host`.
std::string exact_rule_hint(const std::optional<std::string>& tool) {
    if (tool == "run_command" || !tool) {
        return R"(name its arguments whole: host/run_command ={"argv":["make","test"]})";
    }
    if (tool == "write_file") {
        return R"(name its arguments whole: host/write_file ={"path":"notes.txt","content":"text"})";
    }
    return fmt::format("name its arguments whole, as JSON: host/{} ={{...}}", visible_name(*tool));
}

} // namespace

Rule make_rule(protocol::RuleSpec spec, RuleSource source, WallTime now) {
    Rule rule;
    rule.id = random_id();
    rule.effect = spec.effect;
    rule.kind = spec.kind;
    rule.server = std::move(spec.server);
    rule.tool = std::move(spec.tool);
    rule.arguments = std::move(spec.arguments);
    rule.host = std::move(spec.host);
    rule.methods = std::move(spec.methods);
    rule.paths = std::move(spec.paths);
    rule.inject = std::move(spec.inject);
    rule.openapi = std::move(spec.openapi);
    rule.protocol = spec.protocol;
    rule.confirm = spec.confirm;
    rule.source = source;
    rule.created_at = to_rfc3339(now);
    rule.expires_at = std::move(spec.expires_at);
    rule.uses = spec.uses;
    rule.tests = std::move(spec.tests);
    return rule;
}

void check_rule(const Rule& rule) {
    if (rule.effect == Effect::allow && !rule.kind) {
        refuse("expected an allow rule to name at least a kind, found none", "name a kind, better a server and a tool");
    }
    if ((rule.server && rule.server->empty()) || (rule.tool && rule.tool->empty())) {
        refuse("expected a name of a server or tool, found an empty one", "leave the field out to match all");
    }
    const bool has_host = rule.kind == ActionKind::network || rule.kind == ActionKind::request;
    if (rule.host && (!has_host || !parse_host_pattern(*rule.host))) {
        refuse(fmt::format(
            "expected a host only in a rule of kind network or request, and one such as example.org, *.example.org "
            "or 192.0.2.1:8080, found {}",
            visible_name(*rule.host)));
    }
    if (rule.expires_at && !parse_rfc3339(*rule.expires_at)) {
        refuse(fmt::format("expected expiresAt as a time in UTC such as 2030-01-02T03:04:05Z, found {}",
                           visible_name(*rule.expires_at)));
    }
    if (rule.uses && (rule.effect != Effect::allow || *rule.uses < 1 || *rule.uses > max_uses)) {
        refuse(fmt::format("expected uses only in an allow rule, and 1 to {} of them, found {}", max_uses, *rule.uses));
    }
    check_request_parts(rule);
    if (rule.protocol && rule.kind != ActionKind::network) {
        refuse("expected a protocol only in a rule of kind network");
    }
    if (rule.confirm && rule.effect != Effect::ask) {
        refuse("expected confirm only in an ask rule");
    }
    if (rule.effect == Effect::review && rule.kind != ActionKind::tool && rule.kind != ActionKind::host) {
        refuse("expected a review rule of kind tool or host: it is about results");
    }
    if (rule.kind == ActionKind::output && (rule.server || rule.tool || rule.arguments || rule.host)) {
        refuse("expected a rule of kind output without a server, a tool, arguments or a host: it is about all output");
    }
    check_tests(rule);
    if (rule.arguments) {
        if (rule.arguments->size() > max_pointers) {
            refuse(fmt::format("expected at most {} conditions on arguments, found {}", max_pointers,
                               rule.arguments->size()));
        }
        for (const auto& [pointer, matcher] : *rule.arguments) {
            check_matcher(pointer, matcher);
        }
    }
}

void check_new_rule(const Rule& rule, WallTime now) {
    check_rule(rule);
    if (is_expired(rule, now)) {
        refuse(fmt::format("expected a time to come, found {}", *rule.expires_at));
    }
    if (rule.effect != Effect::allow || binds_exactly(rule)) {
        return;
    }
    const bool reads_only = rule.kind == ActionKind::host && !rule.tool; // covers just those tools that read
    if (!reads_only && requires_exact_payload(*rule.kind, rule.tool)) {
        refuse(fmt::format("expected a rule that names exactly what it allows, as {} needs, found one that allows more",
                           rule.tool ? visible_name(*rule.tool) : std::string(enum_name(*rule.kind))),
               rule.kind == ActionKind::network ? "name the host"
               : rule.kind == ActionKind::host
                   ? exact_rule_hint(rule.tool)
                   : "allow it where it is asked about, for this workspace or always: that makes the rule");
    }
}

bool is_expired(const Rule& rule, WallTime now) {
    if (!rule.expires_at) {
        return false;
    }
    const std::optional<WallTime> end = parse_rfc3339(*rule.expires_at);
    return end && *end <= now;
}

Match matches(const Rule& rule, const Payload& payload, PathSnapshot& paths) {
    const Payload::Names& names = payload.names();
    if ((rule.kind && rule.kind != names.kind) || (rule.server && rule.server != names.server) ||
        (rule.tool && rule.tool != names.tool) ||
        (rule.server_identity && rule.server_identity != names.server_identity) ||
        (rule.tool_identity && rule.tool_identity != names.tool_identity) ||
        (rule.payload_hash && rule.payload_hash != payload.hash()) || (rule.host && !host_matches(*rule.host, names)) ||
        !protocol_matches(rule, names) || (!rule.kind && names.kind == ActionKind::output)) {
        return Match::no;
    }
    const Match request = match_request(rule, names);
    if (request == Match::no) {
        return request;
    }
    // A body that is not read as we read JSON may mean to its server what the condition is about.
    const bool unread = names.has_other_body && rule.arguments && !rule.arguments->empty();
    return std::min(request, unread ? Match::unclear
                                    : match_arguments(rule, names.arguments, paths, names.has_own_folder).match);
}

ArgumentsMatch match_arguments(const Rule& rule, const RawJson* arguments, PathSnapshot& paths, bool has_own_folder) {
    ArgumentsMatch all;
    if (!rule.arguments) {
        return all;
    }
    for (const auto& condition : *rule.arguments) {
        const std::optional<std::string_view> value =
            arguments != nullptr ? find_pointer(arguments->text(), condition.first) : std::nullopt;
        const Match match = value ? match_value(condition.second, *value, paths, has_own_folder) : Match::no;
        if (match < all.match) {
            all = {match, &condition};
        }
        if (match == Match::no) {
            break;
        }
    }
    return all;
}

bool applies(const Rule& rule, const Payload& payload, PathSnapshot& paths) {
    if (rule.effect == Effect::inspect || rule.effect == Effect::review) {
        return false;
    }
    const Match match = matches(rule, payload, paths);
    if (rule.effect != Effect::allow) {
        return match != Match::no;
    }
    if (match != Match::yes) {
        return false;
    }
    if (!rule.kind && payload.names().kind == ActionKind::server) {
        return false;
    }
    return !payload.requires_exact() || binds_exactly(rule);
}

bool inspects(const Rule& rule, const Payload::Names& names) {
    return rule.kind == ActionKind::request && rule.host && host_matches(*rule.host, names) &&
           (!rule.server || rule.server == names.server);
}

std::string describe_condition(const std::string& pointer, const Matcher& matcher) {
    const std::string place = pointer.empty() ? "arguments" : visible_name(pointer); // the whole of them
    return place + condition_words(matcher);
}

std::string describe(const Rule& rule) {
    return fmt::format("rule {} ({}): {}", visible_name(rule.id), enum_name(rule.source), describe_spec(rule));
}

std::string describe_spec(const Rule& rule) {
    std::string text(enum_name(rule.effect));
    if (rule.kind) {
        text += fmt::format(" {}", enum_name(*rule.kind));
    }
    if (rule.tool) {
        text += fmt::format(" {}", visible_name(*rule.tool));
    }
    if (rule.server) {
        text += fmt::format(" of {}", visible_name(*rule.server));
    }
    if (rule.host) {
        text += fmt::format(" to {}", visible_name(*rule.host));
    }
    text += rule.protocol ? " by any protocol" : "";
    text += request_words(rule);
    if (rule.payload_hash) {
        text += " with exactly one payload";
    }
    if (rule.arguments && !rule.arguments->empty()) {
        std::string conditions;
        for (const auto& [pointer, matcher] : *rule.arguments) {
            conditions += (conditions.empty() ? "" : ", ") + describe_condition(pointer, matcher);
        }
        text += fmt::format(" with {}", conditions);
    }
    text += rule.confirm ? ", confirmed by a touch of a security key" : "";
    if (rule.expires_at) {
        text += fmt::format(", until {}", visible_name(*rule.expires_at));
    }
    if (rule.uses) {
        const bool calls = rule.kind == ActionKind::tool || rule.kind == ActionKind::host;
        text += fmt::format(", for {} more {}{}", *rule.uses, calls ? "call" : "action", *rule.uses == 1 ? "" : "s");
    }
    return text;
}

} // namespace cellgate::gate
