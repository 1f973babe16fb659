#include "gate_impl.hpp"
#include "rule_tests.hpp"
#include "rules.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::gate {

namespace {

bool same_but_id(const Rule& a, const Rule& b) {
    Rule c = b;
    c.id = a.id;
    return to_json(a) == to_json(c);
}

[[noreturn]] void refuse_rule(const std::string& why, const std::string& hint) {
    throw Error(ErrorCode::rule_invalid, why + "; nothing was answered", hint);
}

// The rule that was sent with the answer; without one, a rule for the action's server and tool.
protocol::RuleSpec spec_of_grant(const Payload::Names& action, const protocol::ApprovalRespondParams& params) {
    protocol::RuleSpec spec;
    spec.effect = params.decision == Verdict::allow ? Effect::allow : Effect::deny;
    spec.kind = action.kind;
    spec.server = action.server;
    spec.tool = action.tool;
    const bool inspects = params.rule && params.rule->effect == Effect::inspect && params.decision == Verdict::allow;
    if (params.rule && params.rule->effect != spec.effect && !inspects) {
        refuse_rule("the rule's effect is not the decision",
                    "allow with a rule that allows, deny with one that denies");
    }
    return params.rule.value_or(std::move(spec));
}

// Throws Error{rule_invalid} for a scope that the action is not in.
RuleSource source_of_grant(Scope scope, const RequestContext& context, const RuleBook& rules) {
    switch (scope) {
    case Scope::once:
        refuse_rule("a rule was sent for one call alone", "name the scope that the rule is to hold for");
    case Scope::execution:
        if (!rules.is_running(context)) {
            refuse_rule("no execution runs that the answer could hold for", "choose another scope");
        }
        return RuleSource::execution;
    case Scope::session:
        if (!context.session_id) {
            refuse_rule("no session is behind this action", "choose another scope");
        }
        return RuleSource::session;
    case Scope::workspace:
        return RuleSource::workspace_store;
    case Scope::always:
        break;
    }
    return RuleSource::user_store;
}

// Throws Error{rule_invalid} for an allow rule that covers more than an answer to `action` may.
void require_not_too_wide(const Rule& rule, const Payload& payload, bool edited) {
    if (edited) {
        refuse_rule("an edit is answered for exactly itself, and a rule was sent",
                    "leave the rule out; the scope says for how long the answer holds");
    }
    // For a connection and its requests, naming the host is enough.
    if (payload.requires_exact() && !payload.names().host) {
        refuse_rule("this action is answered for exactly its payload, and a rule was sent",
                    "leave the rule out; the scope says for how long the answer holds");
    }
    if (payload.names().server && !rule.server) {
        refuse_rule("the rule is too wide: it names no server", "name the server of the call that is answered");
    }
}

// What they bind, by identity.
std::map<std::string, std::string> definitions_of_stored_rules(const Answer& answer) {
    std::map<std::string, std::string> definitions;
    for (const Answer::One& one : answer.each) {
        if (one.rule && one.rule->tool_identity && !one.rule->session_id && one.entry->request.definition) {
            definitions.emplace(*one.rule->tool_identity, one.entry->request.definition());
        }
    }
    return definitions;
}

// A user wrote it: what is wrong is in a line.
RawJson parse_edited(const std::string& text) {
    JsonLimits limits;
    limits.max_bytes = max_argument_bytes;
    if (const std::optional<JsonProblem> problem = check_json(text, limits)) {
        const std::string_view before = std::string_view(text).substr(0, problem->offset);
        throw Error(ErrorCode::edit_invalid,
                    fmt::format("line {}: expected JSON, found {}", 1 + std::count(before.begin(), before.end(), '\n'),
                                problem->what));
    }
    return RawJson::checked(text);
}

} // namespace

AnswerLock::AnswerLock(std::vector<PendingRequestPtr> entries) : entries_(std::move(entries)) {
    for (const PendingRequestPtr& entry : entries_) {
        entry->answered = released_;
    }
}

AnswerLock::~AnswerLock() {
    for (const PendingRequestPtr& entry : entries_) {
        entry->answered = nullptr;
    }
    released_->set();
}

Action Gate::Impl::edited_action(const PendingRequest& entry, const protocol::ApprovalRespondParams& params,
                                 PathSnapshot& paths) const {
    Payload::Names asked = entry.payload.names();
    const auto refuse = [](const std::string& why) { throw Error(ErrorCode::edit_invalid, why); };
    if (params.approval_ids.size() > 1) {
        throw Error(ErrorCode::invalid_params,
                    "params.argumentsText: edited arguments answer one approval, found several");
    }
    if (params.decision != Verdict::allow) {
        refuse("an edit was sent with a denial");
    }
    if (!entry.request.edit) {
        refuse("this action cannot be edited");
    }
    const RawJson arguments = parse_edited(*params.arguments_text);
    Action edited;
    try {
        edited = entry.request.edit(arguments);
        require_complete(edited);
    } catch (const Error& error) {
        throw Error(ErrorCode::edit_invalid, fmt::format("the edit does not fit: {}", error.message), error.hint);
    }
    const Payload payload(edited);
    asked.arguments = payload.names().arguments;
    asked.method = payload.names().method;
    asked.path = payload.names().path;
    asked.has_other_body = payload.names().has_other_body;
    if (payload.names() != asked || (asked.tool && *asked.arguments != arguments)) {
        throw Error(ErrorCode::internal_error, "expected an edit to change arguments only, found another action");
    }
    const PolicyResult result = policy.rules().evaluate(payload, entry.context(), paths);
    if (paths.is_resolved() && result.effect == Effect::deny) {
        refuse(fmt::format("the edited call may not run: {}", result.reason));
    }
    return edited;
}

Rule Gate::Impl::grant(const PendingRequest& entry, const Action& action, const protocol::ApprovalRespondParams& params,
                       PathSnapshot& paths) const {
    const RequestContext context = entry.context();
    const Payload payload(action);
    const Payload::Names& names = payload.names();
    protocol::RuleSpec spec = spec_of_grant(names, params);
    const RuleSource source = source_of_grant(*params.scope, context, policy.rules());
    Rule rule = make_rule(std::move(spec), source, policy.rules().now());
    if (source == RuleSource::execution || source == RuleSource::session) {
        rule.session_id = context.session_id;
    }
    if (source == RuleSource::execution) {
        rule.execution_id = context.execution_id;
    }
    if (!params.rule) {
        rule.payload_hash = payload.hash();
    }
    if (rule.effect == Effect::allow) {
        rule.server_identity = names.server_identity;
        rule.tool_identity = rule.tool ? names.tool_identity : std::nullopt;
    }
    if (params.rule) {
        if (rule.effect == Effect::allow) {
            require_not_too_wide(rule, payload, params.arguments_text.has_value());
        }
        check_new_rule(rule, policy.rules().now());
        const bool fits = rule.effect == Effect::inspect ? gate::inspects(rule, names) : applies(rule, payload, paths);
        if (!fits && paths.is_resolved()) {
            refuse_rule("the rule does not match the action that it answers", "take one of the approval's choices");
        }
        const std::optional<std::string> failed = failed_test(rule, paths);
        if (failed && paths.is_resolved()) {
            refuse_rule(*failed, "change the rule, or the test");
        }
    }
    return rule;
}

Answer Gate::Impl::check(const protocol::ApprovalRespondParams& params, PathSnapshot& paths) const {
    const std::vector<PendingRequestPtr> asked = approvals.find(params.approval_ids);
    if (params.decision == Verdict::allow) {
        policy.rules().require_readable();
    }
    Answer answer;
    for (const PendingRequestPtr& entry : asked) {
        Answer::One one;
        one.entry = entry;
        if (params.arguments_text) {
            one.edited = edited_action(*entry, params, paths);
        }
        if (params.decision == Verdict::allow) {
            const Action& action = one.edited ? *one.edited : entry->request.action;
            const Payload payload(action);
            const bool now = policy.rules().evaluate(payload, entry->context(), paths).confirm().has_value();
            answer.needs_confirmation = answer.needs_confirmation || now || entry->approval.confirm;
        }
        if (params.scope != Scope::once || params.rule) {
            Rule rule = grant(*entry, one.edited.value_or(entry->request.action), params, paths);
            const Grantee agent = entry->context().agent;
            const auto same = std::find_if(answer.rules.begin(), answer.rules.end(), [&](const Rule& other) {
                const auto given = answer.grantees.find(other.id);
                return same_but_id(rule, other) && (given == answer.grantees.end() || given->second == agent);
            });
            one.rule = same != answer.rules.end() ? *same : answer.rules.emplace_back(std::move(rule));
            if (one.rule->session_id) {
                answer.grantees[one.rule->id] = agent;
            }
        }
        answer.each.push_back(std::move(one));
    }
    return answer;
}

Task<CheckedAnswer> Gate::Impl::take_turn(std::shared_ptr<Impl> self, const protocol::ApprovalRespondParams* params) {
    std::vector<PendingRequestPtr> asked = self->approvals.find(params->approval_ids);
    const auto is_locked = [](const PendingRequestPtr& entry) { return entry->answered != nullptr; };
    for (auto locked = std::find_if(asked.begin(), asked.end(), is_locked); locked != asked.end();
         locked = std::find_if(asked.begin(), asked.end(), is_locked)) {
        const std::shared_ptr<Event> other_answer = (*locked)->answered;
        co_await other_answer->wait();
        asked = self->approvals.find(params->approval_ids);
    }
    CheckedAnswer checked;
    checked.lock = std::make_unique<AnswerLock>(std::move(asked));
    PathSnapshot paths = self->policy.snapshot();
    checked.answer = self->check(*params, paths);
    while (!paths.is_resolved()) {
        co_await self->policy.resolve(paths);
        checked.answer = self->check(*params, paths);
    }
    co_return checked;
}

Task<void> Gate::Impl::respond(std::shared_ptr<Impl> self, protocol::ApprovalRespondParams params) {
    params.scope = params.scope.value_or(Scope::once);
    if (params.unattended && params.decision != Verdict::deny) {
        throw Error(ErrorCode::invalid_params, "params.unattended: without a user there is only: deny");
    }
    self->refresh();
    CheckedAnswer checked = co_await take_turn(self, &params);
    if (checked.answer.needs_confirmation) {
        checked = co_await confirmed(self, &params, std::move(checked));
    }
    const std::unique_ptr<AnswerLock> lock = std::move(checked.lock);
    co_await shielded(apply(self, std::move(params), std::move(checked.answer)));
}

Task<void> Gate::Impl::apply(std::shared_ptr<Impl> self, protocol::ApprovalRespondParams params, Answer answer) {
    std::map<std::string, std::string> bound = definitions_of_stored_rules(answer);
    if (!bound.empty()) {
        std::function<void()> work = [self, bound = std::move(bound)] {
            for (const auto& [identity, text] : bound) {
                self->definitions.store(identity, text);
            }
        };
        co_await self->options.run_blocking(std::move(work));
    }
    co_await self->policy.rules().add(answer.rules, answer.grantees, answer.confirmation.has_value());
    for (Answer::One& one : answer.each) {
        if (one.entry->decision) {
            continue; // withdrawn while the rule was written
        }
        Decision decision;
        decision.allowed = params.decision == Verdict::allow;
        decision.edited = one.edited.has_value();
        decision.action = one.edited ? std::move(*one.edited) : one.entry->request.action;
        decision.reason = params.reason.value_or(decision.allowed ? "a user allowed it" : "a user denied it");
        decision.by = params.unattended ? ResolvedBy::no_client : ResolvedBy::user;
        decision.rule = one.rule;
        decision.confirmation = answer.confirmation;
        self->settle(one.entry, std::move(decision));
    }
    if (!answer.rules.empty()) {
        const bool within = params.scope == Scope::execution || params.scope == Scope::session;
        std::set<std::optional<std::string>> sessions;
        for (const Rule& rule : answer.rules) {
            sessions.insert(within ? rule.session_id : std::nullopt);
        }
        for (const std::optional<std::string>& session : sessions) {
            self->reconsider(session);
        }
    }
    self->pump();
}

} // namespace cellgate::gate
