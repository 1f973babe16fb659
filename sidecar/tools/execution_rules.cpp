#include "tools/execution_rules.hpp"

#include "tools/rule_text.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>

namespace cellgate::tools {

namespace {

std::optional<std::string> rule_for(const protocol::Action& action) {
    const bool reads = action.tool == "read_file" || action.tool == "list_directory";
    switch (action.kind) {
    case protocol::ActionKind::host:
        if (!reads) {
            return std::nullopt;
        }
        [[fallthrough]];
    case protocol::ActionKind::tool:
        return "allow " +
               allow_rule_for(action.server.value_or("host"), action.tool.value_or(""), RawJson::checked("{}"), false);
    case protocol::ActionKind::network:
        return fmt::format("allow network {}", action.host.value_or(""));
    case protocol::ActionKind::request:
        return fmt::format("allow request {} {}", action.host.value_or(""), action.method.value_or(""));
    default:
        return std::nullopt;
    }
}

} // namespace

std::vector<std::string> execution_rules(const std::vector<protocol::Action>& allowed) {
    std::set<std::string> rules;
    for (const protocol::Action& action : allowed) {
        if (std::optional<std::string> rule = rule_for(action)) {
            rules.insert(std::move(*rule));
        }
    }
    return {rules.begin(), rules.end()};
}

} // namespace cellgate::tools
