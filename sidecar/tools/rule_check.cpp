#include "rule_check.hpp"

#include "base/json_value.hpp"
#include "base/suggest.hpp"
#include "server_errors.hpp"
#include "tools/argument_check.hpp"
#include "tools/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace cellgate::tools {

namespace {

using Type = JsonValue::Type;

constexpr std::size_t max_schema_bytes = std::size_t{256} << 10; // larger ones pass

// The names in a JSON pointer.
std::vector<std::string> names_in(std::string_view pointer) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at < pointer.size(); ++at) {
        if (pointer[at] == '/') {
            names.emplace_back();
        } else if (pointer[at] == '~') {
            names.back() += pointer[++at] == '1' ? '/' : '~';
        } else {
            names.back() += pointer[at];
        }
    }
    return names;
}

// Whether an object that fits may have members beyond those of `properties`. A tool that lists its arguments and says
// nothing of others takes no others.
bool is_open(const JsonValue& schema) {
    for (const std::string_view elsewhere :
         {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties"}) {
        if (schema.find(elsewhere) != nullptr) {
            return true;
        }
    }
    if (const JsonValue* others = schema.find("additionalProperties")) {
        return others->text != "false";
    }
    const JsonValue* properties = schema.find("properties");
    return properties == nullptr || properties->members.empty();
}

bool takes_text(const JsonValue& schema) {
    const JsonValue* type = schema.find("type");
    if (type == nullptr) {
        return true;
    }
    const auto is_text = [](const JsonValue& name) { return name.string == "string"; };
    return is_text(*type) || std::any_of(type->elements.begin(), type->elements.end(), is_text);
}

std::optional<RuleProblem> check_condition(const JsonValue& root, const std::string& pointer,
                                           const protocol::Matcher& matcher) {
    if (!is_pointer(pointer)) {
        return std::nullopt; // which the gate refuses
    }
    const JsonValue* schema = &root;
    std::string path = "arguments";
    for (const std::string& name : names_in(pointer)) {
        const JsonValue* properties = schema->find("properties");
        const JsonValue* property = properties == nullptr ? nullptr : properties->find(name);
        path += fmt::format(".{}", shortened(name, 60));
        if (property == nullptr && is_open(*schema)) {
            return std::nullopt;
        }
        if (property == nullptr) {
            std::vector<std::string> names;
            if (properties != nullptr) {
                for (const JsonValue::Member& each : properties->members) {
                    names.push_back(each.name);
                }
            }
            return RuleProblem{fmt::format("expected an argument that there is, found {}", path),
                               did_you_mean(name, names)};
        }
        schema = property;
    }
    std::vector<RawJson> values = matcher.in.value_or(std::vector<RawJson>());
    if (matcher.equals) {
        values.push_back(*matcher.equals);
    }
    for (const RawJson& value : values) {
        if (std::optional<std::string> problem = check_value(root, *schema, parse_json_value(value.text()), path)) {
            return RuleProblem{std::move(*problem), {}};
        }
    }
    if (!values.empty() || matcher.less_than) {
        return std::nullopt;
    }
    if (!takes_text(*schema)) {
        return RuleProblem{fmt::format("{}: no text can be there, and glob and under compare texts", path),
                           "Use equals."};
    }
    return std::nullopt;
}

std::optional<RuleProblem> check_tool(const protocol::RuleSpec& rule, const Tool& tool) {
    std::optional<RuleProblem> problem = check_conditions(tool.spec.input_schema.text(), *rule.arguments);
    if (problem) {
        problem->what += fmt::format(" (the tool {})", in_quotes(tool.spec.name));
    }
    return problem;
}

// A tool that the server does not have may come, but not beside one whose name is spelled like it: that one was meant.
// The tools of built-in servers are always the same.
std::optional<RuleProblem> check_name(const std::string& tool, const std::string& server,
                                      const std::vector<ToolPtr>& tools) {
    std::vector<std::string> names;
    std::transform(tools.begin(), tools.end(), std::back_inserter(names),
                   [](const ToolPtr& each) { return each->spec.name; });
    const auto is_like = [&tool](const std::string& name) { return is_spelled_like(name, tool); };
    const bool is_certain =
        server == host_server_name || server == kernel_server_name || std::any_of(names.begin(), names.end(), is_like);
    if (!is_certain || std::find(names.begin(), names.end(), tool) != names.end()) {
        return std::nullopt;
    }
    return RuleProblem{fmt::format("expected a tool of {}, found {}", shortened(server, 60), in_quotes(tool)),
                       did_you_mean(tool, names)};
}

} // namespace

std::optional<RuleProblem> check_conditions(const std::string& schema,
                                            const std::map<std::string, protocol::Matcher>& conditions) {
    if (schema.empty() || schema.size() > max_schema_bytes) {
        return std::nullopt;
    }
    const JsonValue root = parse_json_value(schema);
    for (const auto& [pointer, matcher] : conditions) {
        if (std::optional<RuleProblem> problem = check_condition(root, pointer, matcher)) {
            return problem;
        }
    }
    return std::nullopt;
}

std::optional<RuleProblem> check_rule(const protocol::RuleSpec& rule, const std::string& server,
                                      const std::vector<ToolPtr>& tools) {
    if (rule.server == server && rule.tool) {
        if (std::optional<RuleProblem> problem = check_name(*rule.tool, server, tools)) {
            return problem;
        }
    }
    const bool is_host = !rule.server && rule.kind == protocol::ActionKind::host && server == host_server_name;
    if (!rule.arguments || (rule.server != server && !is_host)) {
        return std::nullopt;
    }
    std::optional<RuleProblem> problem;
    for (const ToolPtr& tool : tools) {
        if (!rule.tool || *rule.tool == tool->spec.name) {
            problem = check_tool(rule, *tool);
            if (!problem) {
                return std::nullopt;
            }
        }
    }
    return problem;
}

} // namespace cellgate::tools
