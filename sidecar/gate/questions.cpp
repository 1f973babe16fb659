#include "base/encoding.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "choices.hpp"
#include "columns.hpp"
#include "display.hpp"
#include "gate_impl.hpp"
#include "visible_name.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::gate {

namespace {

// Of a question that an agent's program shows: one that is longer would hardly be read there.
constexpr std::size_t max_elicited_bytes = std::size_t{16} << 10;

std::string reason_of_nobody(const Request& request) {
    if (!request.agent) {
        return std::string(nobody);
    }
    return fmt::format("{}. Tell your user: open this workspace in an editor that is connected to cellgate and answer "
                       "there, or add a rule; then it can be tried again",
                       nobody);
}

} // namespace

Decision decision_by(Ruling ruling, const Action& action) {
    Decision decision;
    decision.allowed = ruling.effect == Effect::allow;
    decision.action = action;
    decision.reason = std::move(ruling.reason);
    decision.by = ResolvedBy::rule;
    decision.rule = std::move(ruling.rule);
    return decision;
}

Decision denied(const Action& action, ResolvedBy by, std::string reason) {
    Decision decision;
    decision.action = action;
    decision.reason = std::move(reason);
    decision.by = by;
    return decision;
}

Decision Gate::Impl::at_once(const Question& question, Decision decision) {
    decisions.add(question.request, decision, std::nullopt, clock.wall());
    return decision;
}

Task<Decision> Gate::Impl::decide(std::shared_ptr<Impl> self, Request request) {
    require_complete(request.action);
    if (self->closed) {
        co_return denied(request.action, ResolvedBy::cancelled, "cellgate is ending");
    }
    self->refresh();
    auto question = std::make_shared<Question>(std::move(request));
    const Action& action = question->request.action;
    Paths paths(self->book.root());
    Ruling ruling = self->book.rule_on(question->payload, question->place(), paths);
    while (!paths.complete()) {
        co_await self->resolver.resolve(paths);
        ruling = self->book.rule_on(question->payload, question->place(), paths);
    }
    // By name alone: neither without a rule, nor by one that says "ask".
    if (question->request.only_by_name && (!ruling.rule || ruling.effect == Effect::ask)) {
        co_return self->at_once(*question, denied(action, ResolvedBy::rule, *question->request.only_by_name));
    }
    if (question->request.unless_denied) {
        self->book.require_readable();
        if (ruling.effect != Effect::deny || !ruling.rule) {
            // Kept is what it is a part of.
            co_return decision_by(Ruling{Effect::allow, std::nullopt, "no rule denies it"}, action);
        }
    }
    if (ruling.effect != Effect::ask) {
        co_return self->at_once(*question, decision_by(std::move(ruling), action));
    }
    if (self->closed) {
        co_return denied(action, ResolvedBy::cancelled, "cellgate is ending");
    }
    if (self->nobody_answers() && !self->can_elicit(question->request)) {
        co_return self->at_once(*question, denied(action, ResolvedBy::no_client, reason_of_nobody(question->request)));
    }
    Queue& queue = self->queues[question->queue()];
    question->position = queue.waiting.insert(queue.waiting.end(), question);
    self->changed_queues.insert(question->queue());
    self->count(question, true);
    self->pump();
    bool cancelled = false;
    try {
        co_await question->settled.wait();
    } catch (const Cancelled&) {
        cancelled = true;
    }
    if (cancelled) {
        if (!question->decision) {
            self->settle(question, denied(question->request.action, ResolvedBy::cancelled, "the call was cancelled"));
            self->pump_soon();
        }
        throw Cancelled();
    }
    co_return *question->decision;
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

void Gate::Impl::pump_soon() {
    if (!std::exchange(pumps_soon, true)) {
        scope.spawn(pump_later(shared_from_this()));
    }
}

Task<void> Gate::Impl::pump_later(std::shared_ptr<Impl> self) {
    self->pumps_soon = false;
    self->pump();
    co_return;
}

void Gate::Impl::ask_next(const std::string& name) {
    const auto found = queues.find(name);
    if (found == queues.end()) {
        return;
    }
    Queue& queue = found->second;
    while (queue.shown < max_pending_per_session && !queue.waiting.empty()) {
        const QuestionPtr question = queue.waiting.front();
        if (question->looking) {
            return;
        }
        if (!question->paths) {
            question->paths.emplace(book.root());
        }
        // While it waited, an answer to another one may have covered it.
        Ruling ruling = book.rule_on(question->payload, question->place(), *question->paths);
        if (question->paths->complete() && ruling.effect != Effect::ask) {
            settle(question, decision_by(std::move(ruling), question->request.action));
            continue;
        }
        try {
            prepare(question); // also when paths are wanting: what the choices lack is looked for at once
        } catch (const Error& error) {
            settle(question, denied(question->request.action, ResolvedBy::rule, error.message));
            continue;
        }
        if (!question->paths->complete()) {
            look(question);
            return;
        }
        question->paths.reset(); // what was seen of them is old when its turn comes
        if (queue.shown > 0 && queue.shown_bytes + question->bytes > max_pending_bytes_per_session) {
            return;
        }
        show(question);
    }
    if (queue.shown == 0 && queue.waiting.empty()) {
        queues.erase(found);
    }
}

void Gate::Impl::look(const QuestionPtr& question) {
    question->looking = true;
    scope.spawn(look_for(shared_from_this(), question));
}

Task<void> Gate::Impl::look_for(std::shared_ptr<Impl> self, QuestionPtr question) {
    co_await self->resolver.resolve(*question->paths);
    question->looking = false;
    if (question->decision) {
        co_return;
    }
    if (question->shown) {
        self->judge_pending(question);
    } else {
        self->changed_queues.insert(question->queue());
    }
    self->pump();
}

// All of the approval but its number and times.
void Gate::Impl::prepare(const QuestionPtr& question) {
    const Request& request = question->request;
    protocol::Approval& approval = question->approval;
    ChoiceContext context;
    context.in_session = request.session_id.has_value();
    context.in_execution = book.is_running(question->place());
    approval.choices = choices_for(question->payload, context, *question->paths);
    if (!question->paths->complete() || question->bytes > 0) {
        return;
    }
    approval.display = display_lines(request.action);
    if (request.agent) {
        approval.agent = request.agent->name;
        approval.display.push_back("by agent " + request.agent->name);
    }
    approval.action = request.action;
    approval.session_id = request.session_id;
    approval.execution_id = request.execution_id;
    approval.origin = request.origin;
    if (approval.origin) {
        approval.origin->text = cut_to_line(approval.origin->text, max_source_columns);
    }
    approval.hints = visible_hints(request.hints);
    question->bytes = to_json(approval).size();
}

void Gate::Impl::show(const QuestionPtr& question) {
    protocol::Approval& approval = question->approval;
    approval.approval_id = random_id();
    approval.created_at = to_rfc3339(clock.wall());
    if (options.approval_timeout) {
        const auto timeout = std::chrono::duration_cast<WallTime::duration>(*options.approval_timeout);
        approval.expires_at = to_rfc3339(clock.wall() + timeout);
        question->expiry = scope.spawn(expire(shared_from_this(), question));
    }
    question->seq = next_seq++;
    Queue& queue = queues[question->queue()];
    queue.waiting.erase(question->position);
    ++queue.shown;
    queue.shown_bytes += question->bytes;
    question->shown = true;
    question->position = pending.insert(pending.end(), question);
    by_id.emplace(approval.approval_id, question);
    outbox.push_back([self = shared_from_this(), question] {
        question->told = true;
        self->tell([&question](Answerer& answerer) { answerer.on_requested(question->approval); });
    });
    if (nobody_answers() && can_elicit(question->request)) {
        question->elicitation = scope.spawn(elicit(shared_from_this(), question));
    }
}

void Gate::Impl::settle(const QuestionPtr& kept, Decision decision) {
    const QuestionPtr question = kept; // the caller's may be the one in a list
    question->decision = std::move(decision);
    decisions.add(question->request, *question->decision,
                  question->shown ? std::optional(question->approval.approval_id) : std::nullopt, clock.wall());
    Queue& queue = queues[question->queue()];
    if (question->shown) {
        constexpr std::size_t remembered = 10'000;
        pending.erase(question->position);
        by_id.erase(question->approval.approval_id);
        --queue.shown;
        queue.shown_bytes -= question->bytes;
        resolved.insert(question->approval.approval_id);
        resolved_order.push_back(question->approval.approval_id);
        if (resolved_order.size() > remembered) {
            resolved.erase(resolved_order.front());
            resolved_order.pop_front();
        }
        outbox.push_back([self = shared_from_this(), question] {
            protocol::ApprovalResolvedParams params;
            params.approval_id = question->approval.approval_id;
            params.decision = question->decision->allowed ? Verdict::allow : Verdict::deny;
            params.by = question->decision->by;
            if (question->decision->rule) {
                params.rule_id = question->decision->rule->id;
            }
            params.reason = question->decision->reason;
            self->tell([&params](Answerer& answerer) { answerer.on_resolved(params); });
        });
    } else {
        queue.waiting.erase(question->position);
    }
    for (const std::shared_ptr<CancelState>& task : {question->expiry, question->elicitation}) {
        if (task) {
            outbox.push_back([task] { task->cancel(); });
        }
    }
    changed_queues.insert(question->queue());
    count(question, false);
    outbox.push_back([question] { question->settled.set(); });
}

void Gate::Impl::count(const QuestionPtr& question, bool more) {
    if (!question->request.execution_id) {
        return;
    }
    const auto found = running.find(*question->request.execution_id);
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

void Gate::Impl::tell(const std::function<void(Answerer&)>& what) {
    const std::vector<Answerer*> now = answerers;
    for (Answerer* answerer : now) {
        tell(*answerer, what);
    }
}

void Gate::Impl::tell(Answerer& answerer, const std::function<void(Answerer&)>& what) {
    if (std::find(answerers.begin(), answerers.end(), &answerer) == answerers.end()) {
        return;
    }
    try {
        what(answerer);
    } catch (const std::exception& error) {
        log_error("a client could not be told of an approval: {}", error.what());
    }
}

void Gate::Impl::announce_again(const Question& question, Answerer& answerer) {
    if (!question.decision) {
        tell(answerer, [&question](Answerer& who) { who.on_requested(question.approval); });
    }
}

void Gate::Impl::refresh() {
    if (book.refresh()) {
        reconsider(std::nullopt);
        pump();
    }
}

void Gate::Impl::reconsider(const std::optional<std::string>& session_id) {
    const std::vector<QuestionPtr> now(pending.begin(), pending.end());
    for (const QuestionPtr& question : now) {
        // One that is being looked at is judged by the rules that there are when that has ended.
        if (!question->decision && !question->looking && (!session_id || question->request.session_id == session_id)) {
            question->paths.emplace(book.root());
            judge_pending(question);
        }
    }
}

void Gate::Impl::judge_pending(const QuestionPtr& question) {
    Ruling ruling = book.rule_on(question->payload, question->place(), *question->paths);
    if (!question->paths->complete()) {
        look(question);
        return;
    }
    question->paths.reset();
    // Without a rule: stored rules cannot be read. It waits until they can, and an allow is refused meanwhile.
    if (ruling.effect != Effect::ask && ruling.rule) {
        settle(question, decision_by(std::move(ruling), question->request.action));
    }
}

void Gate::Impl::settle_all(ResolvedBy by, const std::string& reason, const std::optional<std::string>& session_id) {
    std::vector<QuestionPtr> now;
    for (const auto& [name, queue] : queues) {
        now.insert(now.end(), queue.waiting.begin(), queue.waiting.end());
    }
    now.insert(now.end(), pending.begin(), pending.end());
    for (const QuestionPtr& question : now) {
        if (!session_id || question->request.session_id == session_id) {
            settle(question, denied(question->request.action, by, reason));
        }
    }
}

Task<void> Gate::Impl::expire(std::shared_ptr<Impl> self, QuestionPtr question) {
    co_await sleep_for(self->clock, *self->options.approval_timeout);
    if (!question->decision) {
        self->settle(question, denied(question->request.action, ResolvedBy::expired, "nobody answered in time"));
        self->pump();
    }
}

Task<void> Gate::Impl::elicit(std::shared_ptr<Impl> self, QuestionPtr question) {
    bool yes = false;
    std::string problem;
    std::size_t bytes = 0;
    for (const std::string& line : question->approval.display) {
        bytes += line.size() + 1;
    }
    if (bytes > max_elicited_bytes) {
        problem = fmt::format("it takes {} bytes to show, too much for a question at the agent's own program", bytes);
    } else {
        try {
            yes = co_await self->options.elicitor->elicit(*question->request.agent, question->approval);
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            problem = error.message;
        }
    }
    if (question->decision) {
        co_return;
    }
    Decision decision = self->elicited(*question, yes);
    if (!problem.empty()) {
        decision = denied(question->request.action, ResolvedBy::no_client,
                          fmt::format("{}; and {}", reason_of_nobody(question->request), problem));
    }
    self->settle(question, std::move(decision));
    self->pump();
}

Decision Gate::Impl::elicited(const Question& question, bool yes) {
    if (!yes) {
        return denied(question.request.action, ResolvedBy::elicitation, "the user of the agent's program said no");
    }
    try {
        refresh();
        book.require_readable();
    } catch (const Error& error) {
        return denied(question.request.action, ResolvedBy::elicitation, error.message);
    }
    Decision decision;
    decision.allowed = true;
    decision.action = question.request.action;
    decision.reason = "the user of the agent's program allowed it";
    decision.by = ResolvedBy::elicitation;
    return decision;
}

Task<void> Gate::Impl::leave_after(std::shared_ptr<Impl> self, Duration linger) {
    co_await sleep_for(self->clock, linger);
    self->linger = nullptr;
    self->settle_all(ResolvedBy::no_client, std::string(nobody), std::nullopt);
    self->pump();
}

} // namespace cellgate::gate
