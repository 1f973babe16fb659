#include "gate_impl.hpp"
#include "rules.hpp"
#include "visible_name.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::gate {

namespace {

// Questions that are being answered: until it goes, other answers to them wait.
class AnswerLock {
  public:
    explicit AnswerLock(std::vector<PendingRequestPtr> entries) : questions_(std::move(entries)) {
        for (const PendingRequestPtr& entry : questions_) {
            entry->answered = released_;
        }
    }
    AnswerLock(const AnswerLock&) = delete;
    AnswerLock& operator=(const AnswerLock&) = delete;
    ~AnswerLock() {
        for (const PendingRequestPtr& entry : questions_) {
            entry->answered = nullptr;
        }
        released_->set();
    }

  private:
    std::vector<PendingRequestPtr> questions_;
    std::shared_ptr<Event> released_ = std::make_shared<Event>();
};

bool same_but_id(const Rule& a, const Rule& b) {
    Rule c = b;
    c.id = a.id;
    return to_json(a) == to_json(c);
}

} // namespace

std::vector<PendingRequestPtr> Gate::Impl::entries(const std::vector<std::string>& ids) const {
    std::vector<PendingRequestPtr> found;
    std::unordered_set<std::string> seen;
    for (const std::string& id : ids) {
        if (!seen.insert(id).second) {
            throw Error(ErrorCode::invalid_params, fmt::format("expected every id once, found {} twice",
                                                               in_quotes(std::string_view(id).substr(0, 64))));
        }
        if (resolved.contains(id)) {
            throw Error(ErrorCode::approval_resolved,
                        fmt::format("approval {} was decided already; nothing was answered", id));
        }
        const auto entry = by_id.find(id);
        if (entry == by_id.end()) {
            throw Error(ErrorCode::approval_not_found,
                        fmt::format("expected the id of a pending approval, found {}; nothing was answered",
                                    in_quotes(std::string_view(id).substr(0, 64))),
                        "approval/list names those that wait");
        }
        found.push_back(entry->second);
    }
    if (found.empty()) {
        throw Error(ErrorCode::invalid_params, "params.approvalIds: expected at least one id, found none");
    }
    return found;
}

Action Gate::Impl::edited_action(const PendingRequest& entry, const protocol::ApprovalRespondParams& params,
                                 PathSnapshot& paths) const {
    const Action& asked = entry.request.action;
    const auto refuse = [](const std::string& why) { throw Error(ErrorCode::edit_invalid, why); };
    if (params.approval_ids.size() > 1) {
        throw Error(ErrorCode::invalid_params, "params.arguments: edited arguments answer one approval, found several");
    }
    if (params.decision != Verdict::allow) {
        refuse("edited arguments were sent with a denial");
    }
    if (!asked.arguments || !entry.request.edit) {
        refuse("this action has no arguments that can be edited");
    }
    Action edited;
    try {
        JsonLimits limits;
        limits.max_bytes = max_argument_bytes;
        edited = entry.request.edit(RawJson::parse(params.arguments->text(), limits));
        require_complete(edited);
    } catch (const Error& error) {
        throw Error(ErrorCode::edit_invalid, fmt::format("the edited arguments do not fit: {}", error.message),
                    error.hint);
    }
    if (edited.kind != asked.kind || edited.server != asked.server || edited.tool != asked.tool ||
        edited.server_identity != asked.server_identity || edited.tool_identity != asked.tool_identity ||
        edited.arguments != params.arguments) {
        throw Error(ErrorCode::internal_error, "expected an edit to change arguments only, found another action");
    }
    const PolicyResult result = book.evaluate(Payload(edited), entry.place(), paths);
    if (paths.is_resolved() && result.effect == Effect::deny) {
        refuse(fmt::format("the edited call may not run: {}", result.reason));
    }
    return edited;
}

Rule Gate::Impl::grant(const PendingRequest& entry, const Action& action, const protocol::ApprovalRespondParams& params,
                       PathSnapshot& paths) const {
    const auto refuse = [](const std::string& why, const std::string& hint) {
        throw Error(ErrorCode::rule_invalid, why + "; nothing was answered", hint);
    };
    protocol::RuleSpec spec;
    spec.effect = params.decision == Verdict::allow ? Effect::allow : Effect::deny;
    spec.kind = action.kind;
    spec.server = action.server;
    spec.tool = action.tool;
    if (params.rule) {
        if (params.rule->effect != spec.effect) {
            refuse("the rule's effect is not the decision", "an allow goes with a rule that allows");
        }
        spec = *params.rule;
    }
    const Place place = entry.place();
    RuleSource source = RuleSource::user_store;
    switch (*params.scope) {
    case Scope::once:
        refuse("a rule was sent for one call alone", "name the scope that the rule is to hold for");
        break;
    case Scope::execution:
        if (!book.is_running(place)) {
            refuse("no execution runs that the answer could hold for", "choose another scope");
        }
        source = RuleSource::execution;
        break;
    case Scope::session:
        if (!place.session_id) {
            refuse("no session is behind this action", "choose another scope");
        }
        source = RuleSource::session;
        break;
    case Scope::workspace:
        source = RuleSource::workspace_store;
        break;
    case Scope::always:
        break;
    }
    Rule rule = make_rule(std::move(spec), source, book.now());
    if (source == RuleSource::execution || source == RuleSource::session) {
        rule.session_id = place.session_id;
    }
    if (source == RuleSource::execution) {
        rule.execution_id = place.execution_id;
    }
    const Payload payload(action);
    if (!params.rule) {
        rule.payload_hash = payload.hash();
    }
    if (rule.effect == Effect::allow) {
        rule.server_identity = action.server_identity;
        rule.tool_identity = rule.tool ? action.tool_identity : std::nullopt;
    }
    if (params.rule) {
        const bool edited = params.arguments.has_value();
        // For a connection, naming the host is enough.
        const bool only_itself = edited || (requires_exact_payload(action) && action.kind != protocol::ActionKind::network);
        if (rule.effect == Effect::allow && only_itself) {
            refuse(edited ? "edited arguments are answered for exactly themselves, and a rule was sent"
                          : "this action is answered for exactly its payload, and a rule was sent",
                   "leave the rule out; the scope says for how long the answer holds");
        }
        if (rule.effect == Effect::allow && action.server && !rule.server) {
            refuse("the rule is too wide: it names no server", "name the server of the call that is answered");
        }
        check_new_rule(rule, book.now());
        if (!applies(rule, payload, paths) && paths.is_resolved()) {
            refuse("the rule does not match the action that it answers", "take one of the approval's choices");
        }
    }
    return rule;
}

Answer Gate::Impl::check(const protocol::ApprovalRespondParams& params, PathSnapshot& paths) const {
    const std::vector<PendingRequestPtr> asked = entries(params.approval_ids);
    if (params.decision == Verdict::allow) {
        book.require_readable();
    }
    Answer answer;
    for (const PendingRequestPtr& entry : asked) {
        Answer::One one;
        one.entry = entry;
        if (params.arguments) {
            one.edited = edited_action(*entry, params, paths);
        }
        if (params.scope != Scope::once || params.rule) {
            Rule rule = grant(*entry, one.edited.value_or(entry->request.action), params, paths);
            const Grantee agent = entry->place().agent;
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

Task<void> Gate::Impl::respond(std::shared_ptr<Impl> self, protocol::ApprovalRespondParams params) {
    params.scope = params.scope.value_or(Scope::once);
    self->refresh();
    std::vector<PendingRequestPtr> asked = self->entries(params.approval_ids);
    const auto is_claimed = [](const PendingRequestPtr& entry) { return entry->answered != nullptr; };
    for (auto claimed = std::find_if(asked.begin(), asked.end(), is_claimed); claimed != asked.end();
         claimed = std::find_if(asked.begin(), asked.end(), is_claimed)) {
        const std::shared_ptr<Event> other_answer = (*claimed)->answered;
        co_await other_answer->wait();
        asked = self->entries(params.approval_ids);
    }
    const AnswerLock claim(std::move(asked));
    PathSnapshot paths(self->book.root());
    Answer answer = self->check(params, paths);
    while (!paths.is_resolved()) {
        co_await self->resolver.resolve(paths);
        answer = self->check(params, paths);
    }
    co_await shielded(apply(self, std::move(params), std::move(answer)));
}

Task<void> Gate::Impl::apply(std::shared_ptr<Impl> self, protocol::ApprovalRespondParams params, Answer answer) {
    co_await self->book.add(answer.rules, answer.grantees);
    for (Answer::One& one : answer.each) {
        if (one.entry->decision) {
            continue; // it was withdrawn while the rule was written
        }
        Decision decision;
        decision.allowed = params.decision == Verdict::allow;
        decision.edited = one.edited.has_value();
        decision.action = one.edited ? std::move(*one.edited) : one.entry->request.action;
        decision.reason = params.reason.value_or(decision.allowed ? "a user allowed it" : "a user denied it");
        decision.by = ResolvedBy::user;
        decision.rule = one.rule;
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
