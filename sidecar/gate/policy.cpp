#include "gate_impl.hpp"
#include "rules.hpp"

#include <fmt/format.h>

namespace cellgate::gate {

Task<Rule> Gate::Impl::policy_add(std::shared_ptr<Impl> self, protocol::PolicyAddParams params) {
    self->refresh();
    self->book.require_readable();
    RuleSource source = RuleSource::user_store;
    if (params.scope == Scope::session) {
        if (!params.session_id) {
            throw Error(ErrorCode::invalid_params, "params.sessionId: expected a value, found none");
        }
        source = RuleSource::session;
    } else if (params.scope == Scope::workspace) {
        source = RuleSource::workspace_store;
    } else if (params.scope != Scope::always) {
        throw Error(ErrorCode::invalid_params,
                    "params.scope: expected one of \"session\", \"workspace\", \"always\", found another");
    }
    Rule rule = make_rule(std::move(params.rule), source, self->book.now());
    if (source == RuleSource::session) {
        rule.session_id = std::move(params.session_id);
    }
    check_new_rule(rule, self->book.now());
    co_await shielded(store_rule(self, rule));
    co_return rule;
}

Task<void> Gate::Impl::store_rule(std::shared_ptr<Impl> self, Rule rule) {
    const std::optional<std::string> session_id = rule.session_id;
    std::vector<Rule> rules;
    rules.push_back(std::move(rule));
    co_await self->book.add(std::move(rules));
    self->reconsider(session_id);
    self->pump();
}

Task<void> Gate::Impl::policy_remove(std::shared_ptr<Impl> self, std::string rule_id) {
    self->refresh();
    co_await self->book.remove(std::move(rule_id));
    self->reconsider(std::nullopt); // what other processes stored came along
    self->pump();
}

Task<protocol::PolicyExplainResult> Gate::Impl::policy_explain(std::shared_ptr<Impl> self,
                                                               protocol::PolicyExplainParams params) {
    self->refresh();
    self->book.require_readable();
    if (params.action.arguments && !params.action.arguments->is_object()) {
        throw Error(ErrorCode::invalid_params, fmt::format("params.action.arguments: expected an object, found {}",
                                                           params.action.arguments->type()));
    }
    const RequestContext context{params.session_id, params.execution_id, true};
    const Payload payload(params.action);
    PathSnapshot paths(self->book.root());
    PolicyResult found = self->book.evaluate(payload, context, paths);
    while (!paths.is_resolved()) {
        co_await self->resolver.resolve(paths);
        found = self->book.evaluate(payload, context, paths);
    }
    if (found.effect == Effect::ask && self->has_no_approver()) {
        found.effect = Effect::deny;
        found.reason = no_approver;
    }
    protocol::PolicyExplainResult result;
    result.effect = found.effect;
    result.rule = std::move(found.rule);
    result.reason = std::move(found.reason);
    co_return result;
}

} // namespace cellgate::gate
