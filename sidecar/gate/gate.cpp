#include "gate/gate.hpp"

#include "base/encoding.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "choices.hpp"
#include "columns.hpp"
#include "display.hpp"
#include "rule_book.hpp"
#include "rules.hpp"
#include "visible_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <list>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace cellgate::gate {

namespace {

using protocol::Action;
using protocol::Effect;
using protocol::ResolvedBy;
using protocol::Rule;
using protocol::RuleSource;
using protocol::Scope;
using protocol::Verdict;

// A call that waits: first for its turn, then, as an approval with an id, for a person.
struct Question {
    explicit Question(Request asked) : request(std::move(asked)), payload(request.action) {}
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;

    Place place() const { return Place{request.session_id, request.execution_id, request.from_code}; }
    const std::string& queue() const {
        static const std::string no_session;
        return request.session_id ? *request.session_id : no_session;
    }

    Request request;
    Payload payload;
    protocol::Approval approval;
    std::size_t bytes = 0; // of the approval in a message; known when its turn has come
    std::int64_t seq = 0;  // of the approvals
    bool shown = false;
    std::optional<Paths> paths;      // while it is judged
    bool looking = false;            // at paths, off the loop
    std::shared_ptr<Event> answered; // while an answer is being checked and stored: others wait for it
    std::list<std::shared_ptr<Question>>::iterator position; // in its queue, then among the pending
    std::shared_ptr<CancelState> expiry;
    std::optional<Decision> decision;
    Event settled;
};
using QuestionPtr = std::shared_ptr<Question>;

// The calls of one session. Those with an approval are in Impl::pending.
struct Queue {
    std::size_t shown = 0;
    std::size_t shown_bytes = 0;
    std::list<QuestionPtr> waiting;
};

struct Running {
    std::function<void(std::size_t)> on_pending;
    std::size_t pending = 0;
};

// What a valid answer does.
struct Answer {
    struct One {
        QuestionPtr question;
        std::optional<Action> edited;
        std::optional<Rule> rule;
    };
    std::vector<One> each;
    std::vector<Rule> rules;
};

// Questions that are being answered: until it goes, other answers to them wait.
class Claim {
  public:
    explicit Claim(std::vector<QuestionPtr> questions) : questions_(std::move(questions)) {
        for (const QuestionPtr& question : questions_) {
            question->answered = released_;
        }
    }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim() {
        for (const QuestionPtr& question : questions_) {
            question->answered = nullptr;
        }
        released_->set();
    }

  private:
    std::vector<QuestionPtr> questions_;
    std::shared_ptr<Event> released_ = std::make_shared<Event>();
};

Decision decision_by(const Ruling& ruling, const Action& action) {
    Decision decision;
    decision.allowed = ruling.effect == Effect::allow;
    decision.action = action;
    decision.reason = ruling.reason;
    decision.by = ResolvedBy::rule;
    if (ruling.rule) {
        decision.rule_id = ruling.rule->id;
    }
    return decision;
}

Decision denied(const Action& action, ResolvedBy by, std::string reason) {
    Decision decision;
    decision.action = action;
    decision.reason = std::move(reason);
    decision.by = by;
    return decision;
}

bool same_but_id(const Rule& a, const Rule& b) {
    Rule c = b;
    c.id = a.id;
    return to_json(a) == to_json(c);
}

constexpr std::size_t max_list_bytes = std::size_t{32} << 20;
constexpr std::size_t max_origin_columns = 200;

constexpr std::string_view nobody = "nobody is attached who can answer, and no rule allows it";

} // namespace

struct Gate::Impl : std::enable_shared_from_this<Gate::Impl> {
    Impl(Clock& clock_, GateOptions options_)
        : clock(clock_), options(std::move(options_)),
          book(clock, options.off_loop, options.root, options.policy_directory), resolver(clock, options.off_loop) {}

    static Task<Decision> decide(std::shared_ptr<Impl> self, Request request);

    // Nothing of what goes out (clients that are told, calls that go on) may run while our state is half changed: it
    // is queued, and pump() sends it at the end of every operation, also of those that it sets off itself.
    void pump();
    // The same once all that is ready now has run: of calls that are cancelled together none is asked about in between.
    void pump_soon();
    static Task<void> pump_later(std::shared_ptr<Impl> self);
    void ask_next(const std::string& queue);
    void prepare(const QuestionPtr& question);
    void show(const QuestionPtr& question);
    // Looks at the paths that a judgement of the question lacked, and has it judged again.
    void look(const QuestionPtr& question);
    static Task<void> look_for(std::shared_ptr<Impl> self, QuestionPtr question);
    void judge_pending(const QuestionPtr& question);
    void settle(const QuestionPtr& question, Decision decision);
    void count(const QuestionPtr& question, bool more);
    void tell(const std::function<void(Answerer&)>& what);

    void refresh();
    // Rules have changed: settles what they now decide; of one session, or of all.
    void reconsider(const std::optional<std::string>& session_id);
    void settle_all(ResolvedBy by, const std::string& reason, const std::optional<std::string>& session_id);

    static Task<void> respond(std::shared_ptr<Impl> self, protocol::ApprovalRespondParams params);
    std::vector<QuestionPtr> questions(const std::vector<std::string>& ids) const;
    // Throws what respond() does. Says nothing while paths are wanting.
    Answer check(const protocol::ApprovalRespondParams& params, Paths& paths) const;
    Action edited_action(const Question& question, const protocol::ApprovalRespondParams& params, Paths& paths) const;
    Rule grant(const Question& question, const Action& action, const protocol::ApprovalRespondParams& params,
               Paths& paths) const;
    static Task<void> apply(std::shared_ptr<Impl> self, protocol::ApprovalRespondParams params, Answer answer);
    static Task<Rule> policy_add(std::shared_ptr<Impl> self, protocol::PolicyAddParams params);
    static Task<void> store_rule(std::shared_ptr<Impl> self, Rule rule);
    static Task<void> policy_remove(std::shared_ptr<Impl> self, std::string rule_id);
    static Task<protocol::PolicyExplainResult> policy_explain(std::shared_ptr<Impl> self,
                                                              protocol::PolicyExplainParams params);

    static Task<void> expire(std::shared_ptr<Impl> self, QuestionPtr question);
    static Task<void> leave_after(std::shared_ptr<Impl> self, Duration linger);

    Clock& clock;
    GateOptions options;
    RuleBook book;
    PathResolver resolver;
    std::int64_t next_seq = 0;
    std::vector<Answerer*> answerers;
    std::list<QuestionPtr> pending; // oldest first
    std::unordered_map<std::string, QuestionPtr> by_id;
    std::map<std::string, Queue> queues;
    std::map<std::string, Running> running;
    // Ids that were resolved, so that a late answer is told from a wrong one.
    std::unordered_set<std::string> resolved;
    std::deque<std::string> resolved_order;
    std::set<std::string> changed_queues;
    std::deque<std::function<void()>> outbox;
    bool pumping = false;
    bool pumps_soon = false;
    bool closed = false;
    std::shared_ptr<CancelState> linger;
    TaskScope scope;
};

Task<Decision> Gate::Impl::decide(std::shared_ptr<Impl> self, Request request) {
    require_complete(request.action);
    if (self->closed) {
        co_return denied(request.action, ResolvedBy::cancelled, "cellgate is ending");
    }
    self->refresh();
    auto question = std::make_shared<Question>(std::move(request));
    Paths paths(self->book.root());
    Ruling ruling = self->book.rule_on(question->payload, question->place(), paths);
    while (!paths.complete()) {
        co_await self->resolver.resolve(paths);
        ruling = self->book.rule_on(question->payload, question->place(), paths);
    }
    if (ruling.effect != Effect::ask) {
        co_return decision_by(ruling, question->request.action);
    }
    if (self->closed) {
        co_return denied(question->request.action, ResolvedBy::cancelled, "cellgate is ending");
    }
    if (self->answerers.empty()) {
        co_return denied(question->request.action, ResolvedBy::no_client, std::string(nobody));
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
        const Ruling ruling = book.rule_on(question->payload, question->place(), *question->paths);
        if (question->paths->complete() && ruling.effect != Effect::ask) {
            settle(question, decision_by(ruling, question->request.action));
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
    approval.action = request.action;
    approval.session_id = request.session_id;
    approval.execution_id = request.execution_id;
    approval.origin = request.origin;
    if (approval.origin) {
        approval.origin->text = cut_to_line(approval.origin->text, max_origin_columns);
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
        self->tell([&question](Answerer& answerer) { answerer.on_requested(question->approval); });
    });
}

void Gate::Impl::settle(const QuestionPtr& kept, Decision decision) {
    const QuestionPtr question = kept; // the caller's may be the one in a list
    question->decision = std::move(decision);
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
            params.rule_id = question->decision->rule_id;
            params.reason = question->decision->reason;
            self->tell([&params](Answerer& answerer) { answerer.on_resolved(params); });
        });
    } else {
        queue.waiting.erase(question->position);
    }
    if (question->expiry) {
        outbox.push_back([expiry = question->expiry] { expiry->cancel(); });
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
        if (std::find(answerers.begin(), answerers.end(), answerer) != answerers.end()) {
            try {
                what(*answerer);
            } catch (const std::exception& error) {
                log_error("a client could not be told of an approval: {}", error.what());
            }
        }
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
    const Ruling ruling = book.rule_on(question->payload, question->place(), *question->paths);
    if (!question->paths->complete()) {
        look(question);
        return;
    }
    question->paths.reset();
    // Without a rule: stored rules cannot be read. It waits until they can, and an allow is refused meanwhile.
    if (ruling.effect != Effect::ask && ruling.rule) {
        settle(question, decision_by(ruling, question->request.action));
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

std::vector<QuestionPtr> Gate::Impl::questions(const std::vector<std::string>& ids) const {
    std::vector<QuestionPtr> found;
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
        const auto question = by_id.find(id);
        if (question == by_id.end()) {
            throw Error(ErrorCode::approval_not_found,
                        fmt::format("expected the id of a pending approval, found {}; nothing was answered",
                                    in_quotes(std::string_view(id).substr(0, 64))),
                        "approval/list names those that wait");
        }
        found.push_back(question->second);
    }
    if (found.empty()) {
        throw Error(ErrorCode::invalid_params, "params.approvalIds: expected at least one id, found none");
    }
    return found;
}

Action Gate::Impl::edited_action(const Question& question, const protocol::ApprovalRespondParams& params,
                                 Paths& paths) const {
    const Action& asked = question.request.action;
    const auto refuse = [](const std::string& why) { throw Error(ErrorCode::edit_invalid, why); };
    if (params.approval_ids.size() > 1) {
        throw Error(ErrorCode::invalid_params, "params.arguments: edited arguments answer one approval, found several");
    }
    if (params.decision != Verdict::allow) {
        refuse("edited arguments were sent with a denial");
    }
    if (!asked.arguments || !question.request.edit) {
        refuse("this action has no arguments that can be edited");
    }
    Action edited;
    try {
        JsonLimits limits;
        limits.max_bytes = max_argument_bytes;
        edited = question.request.edit(RawJson::parse(params.arguments->text(), limits));
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
    const Ruling ruling = book.rule_on(Payload(edited), question.place(), paths);
    if (paths.complete() && ruling.effect == Effect::deny) {
        refuse(fmt::format("the edited call may not run: {}", ruling.reason));
    }
    return edited;
}

Rule Gate::Impl::grant(const Question& question, const Action& action, const protocol::ApprovalRespondParams& params,
                       Paths& paths) const {
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
    const Place place = question.place();
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
        if (rule.effect == Effect::allow && (edited || exact_only(action))) {
            refuse(edited ? "edited arguments are answered for exactly themselves, and a rule was sent"
                          : "this action is answered for exactly its payload, and a rule was sent",
                   "leave the rule out; the scope says for how long the answer holds");
        }
        if (rule.effect == Effect::allow && action.server && !rule.server) {
            refuse("the rule is too wide: it names no server", "name the server of the call that is answered");
        }
        check_new_rule(rule, book.now());
        if (!applies(rule, payload, paths) && paths.complete()) {
            refuse("the rule does not match the action that it answers", "take one of the approval's choices");
        }
    }
    return rule;
}

Answer Gate::Impl::check(const protocol::ApprovalRespondParams& params, Paths& paths) const {
    const std::vector<QuestionPtr> asked = questions(params.approval_ids);
    if (params.decision == Verdict::allow) {
        book.require_readable();
    }
    Answer answer;
    for (const QuestionPtr& question : asked) {
        Answer::One one;
        one.question = question;
        if (params.arguments) {
            one.edited = edited_action(*question, params, paths);
        }
        if (params.scope != Scope::once || params.rule) {
            Rule rule = grant(*question, one.edited.value_or(question->request.action), params, paths);
            const auto same = std::find_if(answer.rules.begin(), answer.rules.end(),
                                           [&rule](const Rule& other) { return same_but_id(rule, other); });
            one.rule = same != answer.rules.end() ? *same : answer.rules.emplace_back(std::move(rule));
        }
        answer.each.push_back(std::move(one));
    }
    return answer;
}

Task<void> Gate::Impl::respond(std::shared_ptr<Impl> self, protocol::ApprovalRespondParams params) {
    params.scope = params.scope.value_or(Scope::once);
    self->refresh();
    std::vector<QuestionPtr> asked = self->questions(params.approval_ids);
    const auto is_claimed = [](const QuestionPtr& question) { return question->answered != nullptr; };
    for (auto claimed = std::find_if(asked.begin(), asked.end(), is_claimed); claimed != asked.end();
         claimed = std::find_if(asked.begin(), asked.end(), is_claimed)) {
        const std::shared_ptr<Event> other_answer = (*claimed)->answered;
        co_await other_answer->wait();
        asked = self->questions(params.approval_ids);
    }
    const Claim claim(std::move(asked));
    Paths paths(self->book.root());
    Answer answer = self->check(params, paths);
    while (!paths.complete()) {
        co_await self->resolver.resolve(paths);
        answer = self->check(params, paths);
    }
    co_await shielded(apply(self, std::move(params), std::move(answer)));
}

Task<void> Gate::Impl::apply(std::shared_ptr<Impl> self, protocol::ApprovalRespondParams params, Answer answer) {
    co_await self->book.add(answer.rules);
    for (Answer::One& one : answer.each) {
        if (one.question->decision) {
            continue; // it was withdrawn while the rule was written
        }
        Decision decision;
        decision.allowed = params.decision == Verdict::allow;
        decision.edited = one.edited.has_value();
        decision.action = one.edited ? std::move(*one.edited) : one.question->request.action;
        decision.reason = params.reason.value_or(decision.allowed ? "a person allowed it" : "a person denied it");
        decision.by = ResolvedBy::person;
        if (one.rule) {
            decision.rule_id = one.rule->id;
        }
        self->settle(one.question, std::move(decision));
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

Task<void> Gate::Impl::expire(std::shared_ptr<Impl> self, QuestionPtr question) {
    co_await sleep_for(self->clock, *self->options.approval_timeout);
    if (!question->decision) {
        self->settle(question, denied(question->request.action, ResolvedBy::expired, "nobody answered in time"));
        self->pump();
    }
}

Task<void> Gate::Impl::leave_after(std::shared_ptr<Impl> self, Duration linger) {
    co_await sleep_for(self->clock, linger);
    self->settle_all(ResolvedBy::no_client, std::string(nobody), std::nullopt);
    self->pump();
}

Gate::Gate(Clock& clock, GateOptions options) : impl_(std::make_shared<Impl>(clock, std::move(options))) {}

Gate::~Gate() = default;

Task<Decision> Gate::decide(Request request) {
    return Impl::decide(impl_, std::move(request));
}

void Gate::begin_execution(RunningExecution execution) {
    impl_->book.begin_execution(execution.session_id, execution.execution_id, execution.mode);
    impl_->running.insert_or_assign(execution.execution_id, Running{std::move(execution.on_pending), 0});
}

void Gate::end_execution(const std::string& execution_id) {
    impl_->running.erase(execution_id);
    impl_->book.end_execution(execution_id);
}

void Gate::end_session(const std::string& session_id) {
    const std::shared_ptr<Impl> impl = impl_;
    impl->book.end_session(session_id);
    impl->settle_all(ResolvedBy::cancelled, "the session has ended", session_id);
    impl->pump();
}

void Gate::attach(Answerer& answerer) {
    impl_->answerers.push_back(&answerer);
    if (const std::shared_ptr<CancelState> linger = std::exchange(impl_->linger, nullptr)) {
        linger->cancel();
    }
}

void Gate::detach(Answerer& answerer, Duration linger) {
    const std::shared_ptr<Impl> impl = impl_;
    if (std::erase(impl->answerers, &answerer) > 0 && impl->answerers.empty() && !impl->queues.empty() &&
        !impl->closed) {
        impl->linger = impl->scope.spawn(Impl::leave_after(impl, linger));
    }
}

protocol::ApprovalListResult Gate::list(const protocol::ApprovalListParams& params) const {
    protocol::ApprovalListResult result;
    std::size_t bytes = 0;
    for (const QuestionPtr& question : impl_->pending) {
        if (question->seq < params.from_seq.value_or(0)) {
            continue;
        }
        if (!result.approvals.empty() && bytes + question->bytes > max_list_bytes) {
            result.next_seq = question->seq;
            break;
        }
        bytes += question->bytes;
        result.approvals.push_back(question->approval);
    }
    return result;
}

Task<void> Gate::respond(protocol::ApprovalRespondParams params) {
    return Impl::respond(impl_, std::move(params));
}

void Gate::check(protocol::RuleSpec spec, RuleSource source) const {
    check_new_rule(make_rule(std::move(spec), source, impl_->book.now()), impl_->book.now());
}

void Gate::withdraw(const std::string& rule_id) {
    impl_->book.withdraw(rule_id);
}

Rule Gate::configure(protocol::RuleSpec spec, RuleSource source, std::optional<std::string> server_identity) {
    Rule rule = make_rule(std::move(spec), source, impl_->book.now());
    rule.server_identity = std::move(server_identity);
    check_new_rule(rule, impl_->book.now());
    impl_->book.configure(rule);
    impl_->reconsider(std::nullopt);
    impl_->pump();
    return rule;
}

protocol::PolicyListResult Gate::policy_list() {
    impl_->refresh();
    impl_->book.require_readable();
    return protocol::PolicyListResult{impl_->book.in_force()};
}

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

Task<protocol::PolicyExplainResult> Gate::Impl::policy_explain(std::shared_ptr<Impl> self,
                                                               protocol::PolicyExplainParams params) {
    self->refresh();
    self->book.require_readable();
    if (params.action.arguments && !params.action.arguments->is_object()) {
        throw Error(ErrorCode::invalid_params, fmt::format("params.action.arguments: expected an object, found {}",
                                                           params.action.arguments->type()));
    }
    const Place place{params.session_id, params.execution_id, true};
    const Payload payload(params.action);
    Paths paths(self->book.root());
    Ruling ruling = self->book.rule_on(payload, place, paths);
    while (!paths.complete()) {
        co_await self->resolver.resolve(paths);
        ruling = self->book.rule_on(payload, place, paths);
    }
    if (ruling.effect == Effect::ask && self->answerers.empty()) {
        ruling.effect = Effect::deny;
        ruling.reason = nobody;
    }
    protocol::PolicyExplainResult result;
    result.effect = ruling.effect;
    result.rule = std::move(ruling.rule);
    result.reason = std::move(ruling.reason);
    co_return result;
}

Task<void> Gate::Impl::policy_remove(std::shared_ptr<Impl> self, std::string rule_id) {
    self->refresh();
    co_await self->book.remove(std::move(rule_id));
    self->reconsider(std::nullopt); // what other processes stored came along
    self->pump();
}

Task<Rule> Gate::policy_add(protocol::PolicyAddParams params) {
    return Impl::policy_add(impl_, std::move(params));
}

Task<protocol::PolicyExplainResult> Gate::policy_explain(protocol::PolicyExplainParams params) {
    return Impl::policy_explain(impl_, std::move(params));
}

Task<void> Gate::policy_remove(std::string rule_id) {
    co_await shielded(Impl::policy_remove(impl_, std::move(rule_id)));
}

Task<void> Gate::close() {
    const std::shared_ptr<Impl> impl = impl_;
    impl->closed = true;
    impl->settle_all(ResolvedBy::cancelled, "cellgate is ending", std::nullopt);
    impl->pump();
    impl->scope.cancel();
    co_await shielded(impl->scope.join());
    co_await shielded(impl->resolver.close());
}

} // namespace cellgate::gate
