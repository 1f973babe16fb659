#include "trusted_servers.hpp"

#include <utility>
#include <vector>

namespace cellgate::service {

void TrustedServers::add(const std::map<std::string, protocol::McpServerConfig>& servers,
                         protocol::ToolServerSource source) {
    std::vector<tools::ServerSpec> specs;
    for (const auto& [name, config] : servers) {
        specs.push_back(tools::ServerSpec{name, config, source, std::nullopt, std::nullopt});
    }
    registry_.add(specs);
    for (const tools::ServerSpec& spec : specs) {
        distrust(spec.name);
        protocol::RuleSpec rule;
        rule.effect = protocol::Effect::allow;
        rule.kind = protocol::ActionKind::server;
        rule.server = spec.name;
        const auto rule_source = source == protocol::ToolServerSource::command_line ? protocol::RuleSource::command_line
                                                                                    : protocol::RuleSource::user;
        start_rules_[spec.name] = gate_.configure(std::move(rule), rule_source, registry_.info(spec.name).identity).id;
    }
}

void TrustedServers::distrust(const std::string& server) {
    if (const auto entry = start_rules_.find(server); entry != start_rules_.end()) {
        gate_.withdraw(entry->second);
        start_rules_.erase(entry);
    }
}

} // namespace cellgate::service
