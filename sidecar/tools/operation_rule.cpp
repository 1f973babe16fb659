#include "tools/operation_rule.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_scan.hpp"
#include "base/suggest.hpp"
#include "rule_check.hpp"
#include "tools/rule_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace cellgate::tools {

namespace {

// What stands for a parameter in the path pattern of a rule.
std::string in_path(const std::string& name, const protocol::Matcher& matcher) {
    std::optional<std::string> part = matcher.glob;
    if (matcher.equals) {
        const std::string_view type = json_type(matcher.equals->text());
        if (type == "string") {
            part = decode_json_string(matcher.equals->text());
        } else if (type == "number") {
            part = matcher.equals->text();
        }
    }
    const bool is_pattern = matcher.glob.has_value();
    if (!part || part->empty() || part->find_first_of("/?#%\\;") != std::string::npos ||
        part->find(is_pattern ? "**" : "*") != std::string::npos || part->find("..") != std::string::npos) {
        throw Error(ErrorCode::rule_invalid,
                    fmt::format("expected for {}, which is a part of the path, a plain value or glob:PATTERN, found "
                                "another",
                                escape_unprintable(name)));
    }
    return *part;
}

std::string with_parameter(const std::string& path, const std::string& name, const std::string& value) {
    const std::string place = "{" + name + "}";
    std::string made = path;
    for (std::size_t at = made.find(place); at != std::string::npos; at = made.find(place, at + value.size())) {
        made.replace(at, place.size(), value);
    }
    return made;
}

} // namespace

void name_operation(protocol::RuleSpec& rule, const gate::ApiDocument& document, const std::string& id) {
    const gate::ApiOperation* operation = document.find(id);
    if (operation == nullptr) {
        std::vector<std::string> ids;
        for (const gate::ApiOperation& each : document.operations()) {
            ids.push_back(each.id);
        }
        throw Error(ErrorCode::rule_invalid,
                    fmt::format("expected an operation of the OpenAPI document, found {}", escape_unprintable(id)),
                    did_you_mean(id, ids));
    }
    const std::vector<std::string> parameters = gate::path_parameters(operation->path);
    std::string path = operation->path;
    std::map<std::string, protocol::Matcher> on_body;
    for (const auto& [pointer, matcher] : rule.arguments.value_or(std::map<std::string, protocol::Matcher>())) {
        const std::optional<std::string> name = argument_name(pointer);
        if (name && std::find(parameters.begin(), parameters.end(), *name) != parameters.end()) {
            path = with_parameter(path, *name, in_path(*name, matcher));
        } else if (name && operation->body_schema.empty()) {
            throw Error(ErrorCode::rule_invalid,
                        fmt::format("expected a parameter in the path of {}, found {}", escape_unprintable(id),
                                    escape_unprintable(*name)),
                        did_you_mean(*name, parameters));
        } else {
            on_body.emplace(pointer, matcher);
        }
    }
    if (const auto problem = check_conditions(operation->body_schema, on_body)) {
        throw Error(ErrorCode::rule_invalid, fmt::format("{} (the body of {})", problem->what, escape_unprintable(id)),
                    problem->hint);
    }
    rule.methods = {operation->method};
    rule.paths = {gate::path_pattern(path)};
    rule.arguments = on_body.empty() ? std::nullopt : std::optional(std::move(on_body));
}

} // namespace cellgate::tools
