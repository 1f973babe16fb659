#include "gate_impl.hpp"

namespace cellgate::gate {

Task<Rule> Gate::Impl::policy_add(std::shared_ptr<Impl> self, protocol::PolicyAddParams params) {
    self->refresh();
    self->policy.rules().require_readable();
    Rule rule = self->policy.make_added_rule(std::move(params));
    co_await shielded(store_rule(self, rule));
    co_return rule;
}

Task<void> Gate::Impl::store_rule(std::shared_ptr<Impl> self, Rule rule) {
    const std::optional<std::string> session_id = rule.session_id;
    std::vector<Rule> rules;
    rules.push_back(std::move(rule));
    co_await self->policy.rules().add(std::move(rules));
    self->reconsider(session_id);
    self->pump();
}

Task<void> Gate::Impl::policy_remove(std::shared_ptr<Impl> self, std::string rule_id) {
    self->refresh();
    co_await self->policy.rules().remove(std::move(rule_id));
    self->reconsider(std::nullopt); // what other processes stored came along
    self->pump();
}

Task<protocol::PolicyExplainResult> Gate::Impl::policy_explain(std::shared_ptr<Impl> self,
                                                               protocol::PolicyExplainParams params) {
    self->refresh();
    protocol::PolicyExplainResult result = co_await self->policy.explain(std::move(params));
    if (result.effect == Effect::ask && self->has_no_approver()) {
        result.effect = Effect::deny;
        result.reason = no_approver;
    }
    co_return result;
}

Task<std::vector<bool>> Gate::Impl::policy_covers(std::shared_ptr<Impl> self, protocol::RuleSpec spec,
                                                  std::vector<protocol::Action> actions) {
    co_return co_await self->policy.covers(std::move(spec), std::move(actions));
}

} // namespace cellgate::gate
