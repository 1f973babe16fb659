#include "tools/execution_rules.hpp"

#include "tools/config.hpp"
#include "tools/rule_text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <set>

namespace cellgate::tools {

namespace {

constexpr std::size_t max_host_rules = 20; // of more there is none: their calls ask

// Of a tool's calls the arguments are left open: those of the function change them. Of the host they are not.
std::optional<std::string> rule_for(const protocol::Action& action) {
    const RawJson open_arguments = RawJson::checked("{}");
    const bool reads = action.tool == "read_file" || action.tool == "list_directory";
    switch (action.kind) {
    case protocol::ActionKind::host:
        if (!reads || !action.arguments_text) {
            return std::nullopt;
        }
        return "allow " + allow_rule_for(action.server.value_or(""), *action.tool, *action.arguments_text, false);
    case protocol::ActionKind::tool:
        if (action.server == kernel_server_name) { // a command, which is no more open than one of the host
            return action.arguments_text ? std::optional("allow " + allow_rule_for(*action.server, *action.tool,
                                                                                   *action.arguments_text, true))
                                         : std::nullopt;
        }
        return "allow " + allow_rule_for(action.server.value_or(""), action.tool.value_or(""), open_arguments, false);
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
    std::set<std::string> of_host;
    for (const protocol::Action& action : allowed) {
        if (std::optional<std::string> rule = rule_for(action)) {
            (action.kind == protocol::ActionKind::host ? of_host : rules).insert(std::move(*rule));
        }
    }
    if (of_host.size() <= max_host_rules) {
        rules.merge(of_host);
    }
    return {rules.begin(), rules.end()};
}

} // namespace cellgate::tools
