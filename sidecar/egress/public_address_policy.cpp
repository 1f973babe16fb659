#include "egress/public_address_policy.hpp"

#include "base/public_address.hpp"

#include <fmt/format.h>

namespace cellgate::egress {

std::optional<std::string> needs_explicit_host_rule(const Host& host, std::string_view shown) {
    const std::string_view what = host.is_address       ? what_is_not_public(host)
                                  : is_local_name(host) ? std::string_view("this machine")
                                                        : std::string_view();
    return what.empty() ? std::nullopt : std::optional(fmt::format("{} is {}, and no rule names it", shown, what));
}

protocol::PolicyExplainResult taken_by_proxy(protocol::PolicyExplainResult said, const Host& host) {
    const bool by_name = said.rule && (said.rule->effect == protocol::Effect::deny ||
                                       (said.effect == protocol::Effect::allow && said.rule->host.has_value()));
    if (std::optional<std::string> reason = needs_explicit_host_rule(host, host.name); reason && !by_name) {
        said.effect = protocol::Effect::deny;
        said.rule.reset();
        said.reason = std::move(*reason);
    }
    return said;
}

} // namespace cellgate::egress
