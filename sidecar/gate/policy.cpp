#include "gate_impl.hpp"
#include "rules.hpp"

#include <fmt/format.h>

namespace cellgate::gate {

Task<Rule> Gate::Impl::policy_add(std::shared_ptr<Impl> self, protocol::PolicyAddParams params) {
    self->refresh();
    self->policy.rules().require_readable();
    Rule rule = self->policy.make_added_rule(std::move(params));
    co_await self->policy.require_tests(&rule);
    if (rule.openapi) {
        std::string path = *rule.openapi;
        co_await self->documents.read(std::move(path));
    }
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

Task<PolicyResult> Gate::Impl::use_rule(std::shared_ptr<Impl> self, PendingRequestPtr entry, PolicyResult result) {
    while (result.needs_use()) {
        Rule& rule = *result.rule;
        std::optional<std::int64_t> left;
        try {
            std::string id = rule.id;
            Task<std::optional<std::int64_t>> taken = self->policy.rules().use(std::move(id));
            left = co_await shielded(std::move(taken));
        } catch (const Error& error) {
            result.effect = Effect::deny;
            result.reason = fmt::format("a use of {} cannot be taken: {}", describe(rule), error.message);
            co_return result;
        }
        if (left) {
            if (left == 0) {
                for (RecordSink* sink : self->sinks) {
                    sink->on_used_up(rule);
                }
            }
            rule.uses = left == 0 ? std::nullopt : left;
            result.reason = fmt::format("allowed by {}{}", describe(rule), left == 0 ? ", for the last time" : "");
            co_return result;
        }
        const RequestContext context = entry->context();
        result = co_await self->policy.evaluate(entry->payload, context);
    }
    co_return result;
}

void Gate::Impl::settle_by_use(const PendingRequestPtr& entry, PolicyResult result) {
    entry->paths.reset();
    entry->resolving = true;
    scope.spawn(settle_by_use_of(shared_from_this(), entry, std::move(result)));
}

Task<void> Gate::Impl::settle_by_use_of(std::shared_ptr<Impl> self, PendingRequestPtr entry, PolicyResult result) {
    PolicyResult used = co_await use_rule(self, entry, std::move(result));
    entry->resolving = false;
    if (entry->decision) {
        co_return;
    }
    if (used.effect != Effect::ask && used.rule) {
        self->settle(entry, decision_by(std::move(used), entry->request.action));
    } else if (!entry->shown) {
        self->changed_queues.insert(entry->queue());
    }
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
