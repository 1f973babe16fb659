#include "rule_argument.hpp"

#include "base/visible_text.hpp"
#include "tools/config.hpp"

#include <fmt/format.h>

namespace cellgate::cli {

namespace {

Error invalid(const std::string& text, const std::string& why) {
    return Error(ErrorCode::rule_invalid,
                 fmt::format("expected a rule like SERVER/TOOL or SERVER/TOOL ARGUMENT=under:DIR, found \"{}\": {}",
                             visible_text(text), why),
                 "see --allow in `cellgate run --help`");
}

std::string pointer_to(std::string_view name) {
    if (name.starts_with('/')) {
        return std::string(name);
    }
    std::string pointer = "/";
    for (const char c : name) {
        pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
    return pointer;
}

protocol::Matcher matcher_of(std::string_view value) {
    protocol::Matcher matcher;
    if (value.starts_with("under:")) {
        matcher.under = value.substr(6);
    } else if (value.starts_with("glob:")) {
        matcher.glob = value.substr(5);
    } else if (!check_json(value)) {
        matcher.equals = RawJson::checked(value);
    } else {
        std::string quoted;
        append_json_string(quoted, value);
        matcher.equals = RawJson::checked(quoted);
    }
    return matcher;
}

} // namespace

protocol::RuleSpec parse_allow_rule(const std::string& text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos || slash == 0) {
        throw invalid(text, "there is no SERVER/ in it");
    }
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end < slash) {
        throw invalid(text, "there is no SERVER/ before the first space");
    }
    protocol::RuleSpec rule;
    rule.effect = protocol::Effect::allow;
    rule.server = text.substr(0, slash);
    const std::string tool = text.substr(slash + 1, end - slash - 1);
    if (rule.server->find('*') != std::string::npos) {
        throw invalid(text, "a rule names one server");
    }
    if (tool.empty() || (tool != "*" && tool.find('*') != std::string::npos)) {
        throw invalid(text, "a rule names one tool, or * for all of the server");
    }
    rule.kind = *rule.server == tools::host_server_name ? protocol::ActionKind::host : protocol::ActionKind::tool;
    if (tool != "*") {
        rule.tool = tool;
    }
    for (std::size_t at = end; at < text.size();) {
        const std::size_t start = text.find_first_not_of(' ', at);
        if (start == std::string::npos) {
            break;
        }
        at = std::min(text.find(' ', start), text.size());
        const std::string_view condition = std::string_view(text).substr(start, at - start);
        const std::size_t equals = condition.find('=');
        if (equals == std::string_view::npos || equals == 0) {
            throw invalid(text, "a condition is ARGUMENT=VALUE");
        }
        if (!rule.arguments) {
            rule.arguments.emplace();
        }
        (*rule.arguments)[pointer_to(condition.substr(0, equals))] = matcher_of(condition.substr(equals + 1));
    }
    return rule;
}

} // namespace cellgate::cli
