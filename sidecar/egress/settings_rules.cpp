#include "egress/settings_rules.hpp"

#include "gate/connection_rule.hpp"
#include "sandbox/domains.hpp"

namespace cellgate::egress {

std::vector<protocol::RuleSpec> rules_of(const sandbox::Settings* settings) {
    std::vector<protocol::RuleSpec> rules;
    const auto add = [&rules](protocol::Effect effect, const std::vector<std::string>& domains) {
        for (const std::string& domain : domains) {
            protocol::RuleSpec& rule = rules.emplace_back(gate::connection_rule(effect, domain));
            if (domain == sandbox::every_host) {
                rule.host.reset();
            }
        }
    };
    if (settings != nullptr) {
        add(protocol::Effect::deny, settings->network.denied_domains);
        add(protocol::Effect::allow, settings->network.allowed_domains);
    }
    return rules;
}

} // namespace cellgate::egress
