#include "base/encoding.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "choices.hpp"
#include "columns.hpp"
#include "display.hpp"
#include "edit_text.hpp"
#include "gate_impl.hpp"
#include "visible_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace cellgate::gate {

std::string no_approver_reason(const Request& request) {
    if (!request.agent) {
        return std::string(no_approver);
    }
    return fmt::format("{}. Tell your user: open this workspace in an editor that is connected to cellgate, or run "
                       "`cellgate approvals follow` in it and answer by `cellgate approvals allow ID`; then it can be "
                       "tried again",
                       no_approver);
}

Decision decision_by(PolicyResult result, const Action& action) {
    Decision decision;
    decision.allowed = result.effect == Effect::allow;
    decision.action = action;
    decision.reason = std::move(result.reason);
    decision.by = ResolvedBy::rule;
    decision.rule = std::move(result.rule);
    return decision;
}

Decision denied(const Action& action, ResolvedBy by, std::string reason) {
    Decision decision;
    decision.action = action;
    decision.reason = std::move(reason);
    decision.by = by;
    return decision;
}

namespace {

// How an OpenAPI document describes a request.
std::vector<std::string> operation_lines(const PendingRequest& entry) {
    if (entry.operation_problem) {
        return own_lines("note: " + *entry.operation_problem);
    }
    if (!entry.operation) {
        return {};
    }
    const ApiDocument::Match& found = entry.operation->found;
    std::string line = fmt::format("operation {} of its OpenAPI document", visible_name(found.operation->id));
    if (!found.operation->summary.empty()) {
        line += ": " + in_quotes(cut_to_line(found.operation->summary, max_source_columns));
    }
    for (const auto& [name, value] : found.parameters) {
        line += fmt::format(", {} {}", visible_name(name), visible_name(value));
    }
    return own_lines(line);
}

} // namespace

void Gate::Impl::record(const PendingRequest& entry, Decision& decision) {
    decision.action_id = ++last_action;
    const std::optional<std::string> approval_id =
        entry.shown ? std::optional(entry.approval.approval_id) : std::nullopt;
    protocol::PastDecision past = past_decision(entry.request, decision, approval_id);
    past.decided_at = to_rfc3339(clock.wall());
    for (RecordSink* sink : sinks) {
        sink->on_decided(decision, past);
    }
}

Decision Gate::Impl::record_immediate(const PendingRequest& entry, Decision decision) {
    record(entry, decision);
    return decision;
}

void Gate::Impl::record_outcome(ActionId action, protocol::Outcome outcome) {
    outcome.ended_at = to_rfc3339(clock.wall());
    for (RecordSink* sink : sinks) {
        sink->on_ended(action, outcome);
    }
}

Task<Decision> Gate::Impl::decide(std::shared_ptr<Impl> self, Request request) {
    require_complete(request.action);
    auto entry = std::make_shared<PendingRequest>(std::move(request));
    const Action& action = entry->request.action;
    if (self->closed) {
        co_return denied(action, ResolvedBy::cancelled, "cellgate is ending");
    }
    if (entry->request.refusal) {
        co_return self->record_immediate(*entry, denied(action, ResolvedBy::rule, *entry->request.refusal));
    }
    self->refresh();
    const RequestContext context = entry->context();
    PolicyResult result = co_await self->policy.evaluate(entry->payload, context);
    if (result.needs_use() && !entry->request.deny_rules_only) {
        result = co_await use_rule(self, entry, std::move(result));
    }
    // Only an explicit rule allows it: no rule is not enough, and neither is one that says "ask".
    if (entry->request.needs_explicit_host_rule && (!result.rule || result.effect == Effect::ask)) {
        co_return self->record_immediate(*entry,
                                         denied(action, ResolvedBy::rule, *entry->request.needs_explicit_host_rule));
    }
    if (entry->request.deny_rules_only) {
        self->policy.rules().require_readable();
        if (result.effect != Effect::deny || !result.rule) {
            // Not recorded: the history has the decision that it is a part of.
            co_return decision_by(PolicyResult{Effect::allow, std::nullopt, "no rule denies it"}, action);
        }
    }
    if (result.effect != Effect::ask) {
        co_return self->record_immediate(*entry, decision_by(std::move(result), action));
    }
    co_await describe_operation(self, entry);
    if (self->closed) {
        co_return denied(action, ResolvedBy::cancelled, "cellgate is ending");
    }
    if (self->has_no_approver() && (result.confirm() || !self->can_elicit(entry->request))) {
        std::string reason = no_approver_reason(entry->request);
        reason += result.failed_tests.empty() ? "" : fmt::format("; {}", fmt::join(result.failed_tests, "; "));
        Decision decision = denied(action, ResolvedBy::no_client, std::move(reason));
        decision.needs_confirmation = result.confirm().has_value();
        co_return self->record_immediate(*entry, std::move(decision));
    }
    co_return co_await ask(self, entry);
}

Task<Decision> Gate::Impl::ask(std::shared_ptr<Impl> self, PendingRequestPtr entry) {
    self->approvals.add(entry);
    self->changed_queues.insert(entry->queue());
    self->count(entry->request.execution_id, true);
    self->pump();
    bool cancelled = false;
    try {
        co_await entry->settled.wait();
    } catch (const Cancelled&) {
        cancelled = true;
    }
    if (cancelled) {
        if (!entry->decision) {
            self->settle(entry, denied(entry->request.action, ResolvedBy::cancelled, "the call was cancelled"));
            self->schedule_flush();
        } else if (entry->decision->allowed) { // its caller has gone, and does not run it
            protocol::Outcome outcome;
            outcome.status = protocol::OutcomeStatus::cancelled;
            self->record_outcome(entry->decision->action_id, std::move(outcome));
        }
        throw Cancelled();
    }
    co_return *entry->decision;
}

Task<Decision> Gate::Impl::decide_stored(std::shared_ptr<Impl> self, Request request) {
    RecordSink* record = self->options.record;
    const bool awaits_record = request.awaits_record;
    Decision decision = co_await decide(self, std::move(request));
    const bool waits =
        decision.by != ResolvedBy::rule || !awaits_record || (record != nullptr && record->is_required());
    if (record == nullptr || decision.action_id == 0 || !waits) {
        co_return decision;
    }
    protocol::Outcome outcome; // of an allowed action that does not run
    std::optional<Error> problem;
    try {
        co_await record->stored();
        co_return decision;
    } catch (const Cancelled&) {
        outcome.status = protocol::OutcomeStatus::cancelled;
    } catch (const Error& error) {
        outcome.status = protocol::OutcomeStatus::failed;
        outcome.error = error.message;
        problem = error;
    }
    if (decision.allowed) {
        self->record_outcome(decision.action_id, outcome);
    }
    if (!problem) {
        throw Cancelled();
    }
    co_return denied(decision.action, ResolvedBy::rule,
                     fmt::format("it cannot be recorded, and you want nothing to run then: {}", problem->message));
}

void Gate::Impl::pump() {
    if (pumping) {
        return;
    }
    const std::shared_ptr<Impl> self = shared_from_this(); // what is sent may end the gate
    pumping = true;
    while (!changed_queues.empty() || !outbox.empty()) {
        if (!changed_queues.empty()) {
            ask_next(changed_queues.extract(changed_queues.begin()).value());
        } else {
            const std::function<void()> send = std::move(outbox.front());
            outbox.pop_front();
            send();
        }
    }
    pumping = false;
}

void Gate::Impl::schedule_flush() {
    if (!std::exchange(pumps_soon, true)) {
        scope.spawn(pump_later(shared_from_this()));
    }
}

Task<void> Gate::Impl::pump_later(std::shared_ptr<Impl> self) {
    self->pumps_soon = false;
    self->pump();
    co_return;
}

void Gate::Impl::ask_next(const std::string& queue) {
    while (const PendingRequestPtr entry = approvals.next(queue)) {
        if (entry->resolving) {
            return;
        }
        if (!entry->paths) {
            entry->paths.emplace(policy.snapshot());
        }
        // While it waited, an answer to another one may have covered it.
        PolicyResult result = policy.rules().evaluate(entry->payload, entry->context(), *entry->paths);
        if (entry->paths->is_resolved() && result.needs_use()) {
            settle_by_use(entry, std::move(result));
            return;
        }
        if (entry->paths->is_resolved() && result.effect != Effect::ask) {
            settle(entry, decision_by(std::move(result), entry->request.action));
            continue;
        }
        if (result.confirm() != entry->approval.confirm) {
            entry->approval.confirm = result.confirm();
            entry->bytes = 0;
        }
        entry->failed_tests = std::move(result.failed_tests);
        try {
            prepare(entry); // also when paths are unresolved: those of the choices are then resolved together with them
        } catch (const Error& error) {
            settle(entry, denied(entry->request.action, ResolvedBy::rule, error.message));
            continue;
        }
        if (!entry->paths->is_resolved()) {
            resolve_paths(entry);
            return;
        }
        entry->paths.reset(); // they may have changed when its turn comes
        if (!approvals.has_room_for(*entry)) {
            return;
        }
        if (has_no_approver() && entry->approval.confirm) { // the agent's own program may not ask
            settle(entry, denied(entry->request.action, ResolvedBy::no_client, no_approver_reason(entry->request)));
            continue;
        }
        show(entry);
    }
}

void Gate::Impl::resolve_paths(const PendingRequestPtr& entry) {
    entry->resolving = true;
    scope.spawn(resolve_paths_of(shared_from_this(), entry));
}

Task<void> Gate::Impl::resolve_paths_of(std::shared_ptr<Impl> self, PendingRequestPtr entry) {
    co_await self->policy.resolve(*entry->paths);
    entry->resolving = false;
    if (entry->decision) {
        co_return;
    }
    if (entry->shown) {
        self->judge_pending(entry);
    } else {
        self->changed_queues.insert(entry->queue());
    }
    self->pump();
}

// Fills in the approval, all but its id and times.
void Gate::Impl::prepare(const PendingRequestPtr& entry) {
    const Request& request = entry->request;
    protocol::Approval& approval = entry->approval;
    ChoiceContext context;
    context.in_session = request.session_id.has_value();
    context.in_execution = policy.rules().is_running(entry->context());
    context.operation = entry->operation ? entry->operation->found.operation : nullptr;
    approval.choices = choices_for(entry->payload, context, *entry->paths);
    if (approval.confirm) { // no stored rule allows what has to be confirmed
        std::erase_if(approval.choices, [](const auto& choice) { return choice.scope == Scope::workspace; });
    }
    if (!entry->paths->is_resolved() || entry->bytes > 0) {
        return;
    }
    approval.display = display_lines(request.action);
    const std::vector<std::string> described = operation_lines(*entry);
    const auto behind_title = static_cast<std::ptrdiff_t>(title_lines(request.action).size());
    approval.display.insert(approval.display.begin() + behind_title, described.begin(), described.end());
    for (const std::string& failed : entry->failed_tests) {
        const std::vector<std::string> lines = own_lines("note: " + failed);
        approval.display.insert(approval.display.end(), lines.begin(), lines.end());
    }
    if (request.agent) {
        approval.agent = request.agent->name;
        approval.display.push_back("by agent " + request.agent->name);
    }
    if (approval.confirm) {
        approval.display.emplace_back("a yes has to be confirmed by a touch of your security key");
    }
    if (request.definition) {
        approval.definition_changes =
            definitions.changes(entry->payload.names(), request.definition(), policy.rules().in_force());
    }
    approval.action = to_protocol(request.action);
    if (request.edit) {
        const RawJson& form = request.edit_form ? *request.edit_form : *entry->payload.names().arguments;
        approval.edit_text = edit_text(form.text());
    }
    approval.session_id = request.of_client ? std::nullopt : request.session_id;
    approval.execution_id = request.execution_id;
    approval.origin = request.origin;
    if (approval.origin) {
        approval.origin->text = cut_to_line(approval.origin->text, max_source_columns);
    }
    approval.hints = visible_hints(request.hints);
    entry->bytes = to_json(approval).size();
}

void Gate::Impl::show(const PendingRequestPtr& entry) {
    protocol::Approval& approval = entry->approval;
    approval.approval_id = random_id();
    approval.created_at = to_rfc3339(clock.wall());
    approvals.show(entry);
    outbox.push_back([self = shared_from_this(), entry] {
        entry->announced = true;
        self->notify([&entry](ApprovalClient& client) { client.on_requested(entry->approval); });
    });
    if (has_no_approver() && can_elicit(entry->request)) {
        entry->elicitation = scope.spawn(elicit(shared_from_this(), entry));
    }
}

void Gate::Impl::settle(const PendingRequestPtr& kept, Decision decision) {
    const PendingRequestPtr entry = kept; // the caller's may be a reference into a list
    entry->decision = std::move(decision);
    entry->decision->needs_confirmation = entry->approval.confirm.has_value();
    record(*entry, *entry->decision);
    const bool by_user = entry->decision->by == ResolvedBy::user || entry->decision->by == ResolvedBy::elicitation;
    if (entry->decision->allowed && by_user && entry->request.definition) {
        definitions.remember(entry->payload.names(), entry->request.definition());
    }
    approvals.remove(entry);
    if (entry->shown) {
        outbox.push_back([self = shared_from_this(), entry] {
            protocol::ApprovalResolvedParams params;
            params.approval_id = entry->approval.approval_id;
            params.decision = entry->decision->allowed ? Verdict::allow : Verdict::deny;
            params.by = entry->decision->by;
            if (entry->decision->rule) {
                params.rule_id = entry->decision->rule->id;
            }
            params.reason = entry->decision->reason;
            self->notify([&params](ApprovalClient& client) { client.on_resolved(params); });
        });
    }
    if (entry->elicitation) {
        outbox.push_back([task = entry->elicitation] { task->cancel(); });
    }
    changed_queues.insert(entry->queue());
    count(entry->request.execution_id, false);
    outbox.push_back([entry] { entry->settled.set(); });
}

void Gate::Impl::count(const std::optional<std::string>& execution_id, bool more) {
    if (!execution_id) {
        return;
    }
    const auto found = running.find(*execution_id);
    if (found == running.end()) {
        return;
    }
    found->second.pending += more ? 1 : -1;
    outbox.push_back([self = shared_from_this(), id = found->first, pending = found->second.pending] {
        const auto still = self->running.find(id);
        if (still != self->running.end() && still->second.on_pending) {
            const std::function<void(std::size_t)> on_pending = still->second.on_pending;
            on_pending(pending);
        }
    });
}

void Gate::Impl::notify(const std::function<void(ApprovalClient&)>& what) {
    const std::vector<ApprovalClient*> now = clients;
    for (ApprovalClient* client : now) {
        notify(*client, what);
    }
}

void Gate::Impl::notify(ApprovalClient& client, const std::function<void(ApprovalClient&)>& what) {
    if (std::find(clients.begin(), clients.end(), &client) == clients.end()) {
        return;
    }
    try {
        what(client);
    } catch (const std::exception& error) {
        log_error("a client failed in a notification of an approval: {}", error.what());
    }
}

void Gate::Impl::announce_again(const PendingRequest& entry, ApprovalClient& client) {
    if (!entry.decision) {
        notify(client, [&entry](ApprovalClient& who) { who.on_requested(entry.approval); });
    }
}

void Gate::Impl::refresh() {
    if (policy.rules().refresh()) {
        reconsider(std::nullopt);
        pump();
    }
}

void Gate::Impl::reconsider(const std::optional<std::string>& session_id) {
    const std::vector<PendingRequestPtr> now(approvals.shown().begin(), approvals.shown().end());
    for (const PendingRequestPtr& entry : now) {
        // A request whose paths are being resolved is evaluated with the new rules once they are.
        if (!entry->decision && !entry->resolving && (!session_id || entry->request.session_id == session_id)) {
            entry->paths.emplace(policy.snapshot());
            judge_pending(entry);
        }
    }
}

void Gate::Impl::judge_pending(const PendingRequestPtr& entry) {
    PolicyResult result = policy.rules().evaluate(entry->payload, entry->context(), *entry->paths);
    if (!entry->paths->is_resolved()) {
        resolve_paths(entry);
        return;
    }
    if (result.needs_use()) {
        settle_by_use(entry, std::move(result));
        return;
    }
    entry->paths.reset();
    if (result.confirm()) {
        entry->approval.confirm = result.confirm();
    }
    // Without a rule: stored rules cannot be read. It waits until they can, and an allow is refused meanwhile.
    if (result.effect != Effect::ask && result.rule) {
        settle(entry, decision_by(std::move(result), entry->request.action));
    }
}

void Gate::Impl::settle_all(ResolvedBy by, const std::string& reason, const std::optional<std::string>& session_id) {
    for (const PendingRequestPtr& entry : approvals.all()) {
        if (!session_id || entry->request.session_id == session_id) {
            settle(entry, denied(entry->request.action, by, reason));
        }
    }
}

void Gate::Impl::settle_unanswerable() {
    for (const PendingRequestPtr& entry : approvals.all()) {
        if (!entry->elicitation) {
            settle(entry, denied(entry->request.action, ResolvedBy::no_client, std::string(no_approver)));
        }
    }
}

Task<void> Gate::Impl::detach_after_linger(std::shared_ptr<Impl> self, Duration linger) {
    co_await sleep_for(self->clock, linger);
    self->linger = nullptr;
    self->settle_unanswerable();
    self->pump();
}

} // namespace cellgate::gate
