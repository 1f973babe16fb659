#include "gate/connection_rule.hpp"

#include "base/host.hpp"

namespace cellgate::gate {

protocol::RuleSpec connection_rule(protocol::Effect effect, std::string_view entry) {
    protocol::RuleSpec rule;
    rule.effect = effect;
    rule.kind = protocol::ActionKind::network;
    if (entry.starts_with(any_protocol)) {
        rule.protocol = protocol::NetworkProtocol::raw;
        entry.remove_prefix(any_protocol.size());
    }
    rule.host = std::string(entry);
    return rule;
}

std::string host_entry(std::string_view host, const std::optional<protocol::NetworkProtocol>& protocol) {
    return std::string(protocol ? any_protocol : std::string_view()) + std::string(host);
}

} // namespace cellgate::gate
