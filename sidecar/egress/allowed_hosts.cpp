#include "egress/allowed_hosts.hpp"

namespace cellgate::egress {

std::vector<std::string> allowed_hosts(gate::Gate& gate, const SandboxOwner& owner) {
    std::vector<std::string> hosts;
    try {
        protocol::PolicyListResult policy = gate.policy_list();
        for (protocol::Rule& rule : policy.rules) {
            const bool is_owners = (!rule.server || rule.server == owner.server) &&
                                   (!rule.session_id || rule.session_id == owner.session_id);
            const bool may_allow = rule.effect == protocol::Effect::allow || rule.effect == protocol::Effect::inspect;
            if (may_allow && rule.host && !rule.execution_id && is_owners) {
                hosts.push_back(std::move(*rule.host));
            }
        }
    } catch (const Error& error) {
        if (error.code != ErrorCode::policy_unreadable) {
            throw;
        }
    }
    return hosts;
}

} // namespace cellgate::egress
