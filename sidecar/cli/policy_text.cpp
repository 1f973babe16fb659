#include "policy_text.hpp"

#include "base/enum_name.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "gate/connection_rule.hpp"
#include "tools/rule_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <vector>

namespace cellgate::cli {

namespace {

// As a typed rule has it: as it is, or as a JSON string where that would end at one of `ends`.
std::string spelled_in_rule(const std::string& text, const char* ends = " ") {
    if (!text.empty() && !text.starts_with('"') && text.find_first_of(ends) == std::string::npos) {
        return text;
    }
    return to_json(text);
}

std::string name_in_rule(const std::optional<std::string>& name) {
    return name ? spelled_in_rule(*name, "/ *") : "*";
}

std::string argument_in_rule(const std::string& pointer) {
    const std::optional<std::string> name = tools::argument_name(pointer);
    return name ? spelled_in_rule(*name, "/= ") : pointer;
}

std::string condition(const protocol::Matcher& matcher) {
    if (matcher.under) {
        return "under:" + spelled_in_rule(*matcher.under);
    }
    if (matcher.glob) {
        return "glob:" + spelled_in_rule(*matcher.glob);
    }
    if (matcher.less_than) {
        return fmt::format("less:{}", *matcher.less_than);
    }
    return matcher.in ? "in:" + to_json(*matcher.in) : matcher.equals.value_or(RawJson()).text();
}

// As an option of a typed rule.
std::string injection(const protocol::Injection& inject) {
    const std::string lead = fmt::format(" --{} ", enum_name(inject.as));
    const std::string_view between = inject.as == protocol::InjectionAs::header ? ": " : "=";
    const std::string named = inject.name ? fmt::format("{}{}{}", *inject.name, between, inject.value) : inject.value;
    return lead + spelled_in_rule(named) + (inject.variable ? " --variable " + *inject.variable : std::string());
}

// The methods, paths and secret of a rule about requests.
template <class AnyRule>
std::string request_parts(const AnyRule& rule) {
    std::string text;
    if (rule.methods) {
        text += fmt::format(" {}", fmt::join(*rule.methods, ","));
    }
    for (const std::string& path : rule.paths.value_or(std::vector<std::string>())) {
        text += " " + spelled_in_rule(path, "= ");
    }
    text += rule.inject ? injection(*rule.inject) : std::string();
    return text + (rule.openapi ? " --openapi " + spelled_in_rule(*rule.openapi) : std::string());
}

// What both kinds of rule have.
template <class AnyRule>
std::string what(const AnyRule& rule) {
    std::string text(enum_name(rule.effect));
    if (rule.kind == protocol::ActionKind::server && rule.server) {
        text += fmt::format("  start of {}", *rule.server);
    } else if (rule.kind != protocol::ActionKind::request && (rule.server || rule.tool)) {
        text += fmt::format("  {}/{}", name_in_rule(rule.server), name_in_rule(rule.tool));
    } else {
        text += fmt::format("  {}", rule.kind ? enum_name(*rule.kind) : "everything");
    }
    if (rule.host) {
        text += " " + gate::host_entry(*rule.host, rule.protocol);
    }
    text += request_parts(rule);
    for (const auto& [pointer, matcher] : rule.arguments.value_or(std::map<std::string, protocol::Matcher>())) {
        text += fmt::format(" {}={}", argument_in_rule(pointer), condition(matcher));
    }
    if (rule.kind == protocol::ActionKind::request && rule.server) {
        text += ", for " + *rule.server;
    }
    if (rule.confirm) {
        text += ", confirmed by a touch of a security key";
    }
    if (rule.expires_at) {
        text += ", until " + *rule.expires_at;
    }
    if (rule.uses) {
        text += fmt::format(", for {} more", *rule.uses);
    }
    return text;
}

std::string actions(std::int64_t count, std::string_view what) {
    return fmt::format("{} action{} that {} {}", count, count == 1 ? "" : "s", count == 1 ? "was" : "were", what);
}

} // namespace

std::string_view effect_word(protocol::Effect effect) {
    return enum_name(effect);
}

std::string rule_line(const protocol::Rule& rule) {
    const std::string exact = rule.payload_hash ? ", exactly one payload" : "";
    return escape_unprintable(fmt::format("{}  {}{}  ({})", rule.id, what(rule), exact, enum_name(rule.source)));
}

std::string rule_line(const protocol::RuleSpec& rule) {
    return escape_unprintable(what(rule));
}

std::string preview_words(protocol::Effect effect, const protocol::PolicyPreviewResult& preview) {
    if (effect == protocol::Effect::inspect) {
        return "it decides nothing; each request to the host is then judged by itself";
    }
    if (effect == protocol::Effect::review) {
        return "it decides nothing; what an agent gets of a session that has such results then waits for you";
    }
    if (preview.allowed + preview.denied == 0) {
        return "of the last 30 days it covers no action";
    }
    std::string text = fmt::format("of the last 30 days it covers {} and {}", actions(preview.allowed, "allowed"),
                                   actions(preview.denied, "denied"));
    if (effect == protocol::Effect::ask) {
        text += "; it would have asked about each";
    }
    return text;
}

} // namespace cellgate::cli
