#include "suggested_rule.hpp"

#include "base/encoding.hpp"
#include "base/error.hpp"
#include "base/json_scan.hpp"
#include "tools/rule_text.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace cellgate::service {

namespace {

constexpr std::size_t max_listed_values = 10;

// The values of an argument, as JSON, in the calls that have it.
using Values = std::map<std::string, std::vector<std::string>>;

Values values_of(const std::vector<protocol::Action>& actions) {
    Values values;
    for (const protocol::Action& action : actions) {
        const std::string arguments = action.arguments_text ? action.arguments_text->text() : "{}";
        for (const auto& [name, value] : json_members(arguments)) {
            values[name].emplace_back(value);
        }
    }
    return values;
}

// The folder that all of these paths are in; empty if they have none, or are no paths.
std::string common_folder(const std::vector<std::string>& values) {
    std::filesystem::path folder;
    for (const std::string& value : values) {
        if (json_type(value) != "string") {
            return "";
        }
        const std::filesystem::path parent =
            std::filesystem::path(decode_json_string(value)).lexically_normal().parent_path();
        if (&value == &values.front()) {
            folder = parent;
            continue;
        }
        std::filesystem::path common;
        const auto [end, other] = std::mismatch(folder.begin(), folder.end(), parent.begin(), parent.end());
        for (auto part = folder.begin(); part != end; ++part) {
            common /= *part;
        }
        folder = common;
    }
    return folder == "/" ? "" : folder.string();
}

std::optional<protocol::Matcher> matcher_for(const std::vector<std::string>& values) {
    protocol::Matcher matcher;
    const std::set<std::string> distinct(values.begin(), values.end());
    if (distinct.size() == 1) {
        matcher.equals = RawJson::checked(values.front());
        return matcher;
    }
    if (std::string folder = common_folder(values); !folder.empty()) {
        matcher.under = std::move(folder);
        return matcher;
    }
    if (distinct.size() > max_listed_values) {
        return std::nullopt;
    }
    matcher.in.emplace();
    for (const std::string& value : distinct) {
        matcher.in->push_back(RawJson::checked(value));
    }
    return matcher;
}

// The methods of the requests, and their paths, or the folder of them where they are too many to list.
void limit_to_requests(protocol::RuleSpec& rule, const std::vector<protocol::Action>& requests) {
    std::set<std::string> methods;
    std::set<std::string> paths;
    for (const protocol::Action& request : requests) {
        methods.insert(request.method.value_or("GET"));
        paths.insert(request.path.value_or("/"));
    }
    rule.methods.emplace(methods.begin(), methods.end());
    rule.paths.emplace(paths.begin(), paths.end());
    if (rule.paths->size() > max_listed_values) {
        const std::string first = *paths.begin();
        const std::string last = *paths.rbegin(); // sorted: what both begin with, all do
        const auto common = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first;
        const std::string start(first.begin(), common);
        rule.paths = {start.substr(0, start.rfind('/') + 1) + "**"};
    }
}

} // namespace

protocol::RuleSpec suggested_rule(const std::vector<protocol::Action>& actions) {
    const protocol::Action& first = actions.front();
    const bool alike = std::all_of(actions.begin(), actions.end(), [&](const protocol::Action& each) {
        return each.kind == first.kind && each.server == first.server && each.tool == first.tool &&
               each.host == first.host && each.port == first.port;
    });
    if (!alike || (!first.tool && !first.host)) {
        throw Error(ErrorCode::rule_invalid,
                    "expected calls of one tool, or connections or requests to one host and port",
                    "choose fewer of them");
    }
    protocol::RuleSpec rule;
    rule.effect = protocol::Effect::allow;
    rule.kind = first.kind;
    if (first.host) {
        rule.host = first.port ? fmt::format("{}:{}", *first.host, *first.port) : *first.host;
        if (first.kind == protocol::ActionKind::request) {
            rule.server = first.server;
            limit_to_requests(rule, actions);
        }
        return rule;
    }
    rule.server = first.server;
    rule.tool = first.tool;
    std::map<std::string, protocol::Matcher> conditions;
    for (const auto& [name, values] : values_of(actions)) {
        std::optional<protocol::Matcher> matcher;
        if (values.size() == actions.size()) {
            matcher = matcher_for(values);
        }
        if (matcher) {
            conditions[tools::pointer_to(name)] = std::move(*matcher);
        }
    }
    if (!conditions.empty()) {
        rule.arguments = std::move(conditions);
    }
    return rule;
}

} // namespace cellgate::service
