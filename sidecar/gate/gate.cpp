#include "gate/gate.hpp"

#include "columns.hpp"
#include "gate_impl.hpp"
#include "rules.hpp"

namespace cellgate::gate {

Gate::Gate(Clock& clock, GateOptions options) : impl_(std::make_shared<Impl>(clock, std::move(options))) {}

Gate::~Gate() = default;

Task<Decision> Gate::decide(Request request) {
    return Impl::decide_stored(impl_, std::move(request));
}

Task<void> Gate::recorded() {
    if (impl_->options.record != nullptr) {
        co_await impl_->options.record->stored();
    }
}

std::string Gate::trace_parent(const Decision& decision, const std::optional<std::string>& execution_id) const {
    const RecordSink* record = impl_->options.record;
    return record == nullptr ? std::string() : record->trace_parent(decision.action_id, execution_id);
}

OutcomeReport Gate::outcome_report(const Decision& decision) {
    if (!decision.allowed || decision.action_id == 0) {
        return {};
    }
    return OutcomeReport([impl = std::weak_ptr<Impl>(impl_), action = decision.action_id](protocol::Outcome outcome) {
        if (const std::shared_ptr<Impl> gate = impl.lock()) {
            gate->record_outcome(action, std::move(outcome));
        }
    });
}

void OutcomeReport::send(Status status, std::string error) {
    if (const auto report = std::exchange(report_, nullptr)) {
        outcome_.status = status;
        if (!error.empty()) {
            outcome_.error = cut_to_line(error, max_outcome_columns);
        }
        report(std::move(outcome_));
    }
}

void Gate::set_session_rules(const std::string& session_id, const std::vector<SessionRule>& rules) {
    impl_->policy.rules().set_session_rules(session_id, rules);
}

void Gate::begin_execution(ExecutionGrants execution) {
    impl_->policy.rules().begin_execution(execution.session_id, execution.execution_id, execution.mode,
                                          execution.hosts);
    impl_->running.insert_or_assign(execution.execution_id, PendingCount{std::move(execution.on_pending), 0});
}

void Gate::end_execution(const std::string& execution_id) {
    impl_->running.erase(execution_id);
    impl_->policy.rules().end_execution(execution_id);
}

void Gate::question_began(const std::string& execution_id) {
    const std::shared_ptr<Impl> impl = impl_;
    impl->count(execution_id, true);
    impl->pump();
}

void Gate::question_ended(const std::string& execution_id) {
    const std::shared_ptr<Impl> impl = impl_;
    impl->count(execution_id, false);
    impl->pump();
}

void Gate::end_session(const std::string& session_id) {
    const std::shared_ptr<Impl> impl = impl_;
    impl->policy.rules().end_session(session_id);
    impl->settle_all(ResolvedBy::cancelled, "the session has ended", session_id);
    impl->pump();
}

void Gate::attach(ApprovalClient& client) {
    const std::shared_ptr<Impl> impl = impl_;
    impl->clients.push_back(&client);
    if (const std::shared_ptr<CancelState> linger = std::exchange(impl->linger, nullptr)) {
        linger->cancel();
    }
    for (const PendingRequestPtr& entry : impl->approvals.shown()) {
        if (entry->announced) { // otherwise the outbox has its notification, for every client
            impl->outbox.push_back([impl, entry, &client] { impl->announce_again(*entry, client); });
        }
    }
    impl->pump();
}

void Gate::detach(ApprovalClient& client, Duration linger) {
    const std::shared_ptr<Impl> impl = impl_;
    if (std::erase(impl->clients, &client) == 0 || !impl->clients.empty() || impl->closed) {
        return;
    }
    if (linger > Duration::zero()) {
        impl->linger = impl->scope.spawn(Impl::detach_after_linger(impl, linger));
    } else {
        impl->settle_unanswerable();
        impl->pump();
    }
}

Task<void> Gate::respond(protocol::ApprovalRespondParams params) {
    return Impl::respond(impl_, std::move(params));
}

void Gate::withdraw(const std::string& rule_id) {
    impl_->policy.rules().withdraw(rule_id);
}

Rule Gate::configure(protocol::RuleSpec spec, RuleSource source, std::optional<std::string> server_identity) {
    Rule rule = make_rule(std::move(spec), source, impl_->policy.rules().now());
    rule.server_identity = std::move(server_identity);
    check_new_rule(rule, impl_->policy.rules().now());
    impl_->policy.rules().configure(rule);
    impl_->reconsider(std::nullopt);
    impl_->pump();
    return rule;
}

std::uint64_t Gate::stored_rules_version() {
    impl_->refresh();
    return impl_->policy.rules().stored_version();
}

protocol::PolicyListResult Gate::policy_list() {
    impl_->refresh();
    impl_->policy.rules().require_readable();
    return protocol::PolicyListResult{impl_->policy.rules().in_force()};
}

Task<Rule> Gate::policy_add(protocol::PolicyAddParams params) {
    return Impl::policy_add(impl_, std::move(params));
}

Task<protocol::PolicyExplainResult> Gate::policy_explain(protocol::PolicyExplainParams params) {
    return Impl::policy_explain(impl_, std::move(params));
}

Task<std::vector<bool>> Gate::policy_covers(protocol::RuleSpec spec, std::vector<protocol::Action> actions) {
    return Impl::policy_covers(impl_, std::move(spec), std::move(actions));
}

std::string Gate::policy_words(const protocol::RuleSpec& spec) const {
    const Rule rule = impl_->policy.make_checked_rule(spec);
    return describe_spec(rule);
}

Task<void> Gate::policy_remove(std::string rule_id) {
    co_await shielded(Impl::policy_remove(impl_, std::move(rule_id)));
}

protocol::PolicyDecisionsResult Gate::policy_decisions() const {
    return impl_->decisions.list();
}

Task<void> Gate::close() {
    const std::shared_ptr<Impl> impl = impl_;
    impl->closed = true;
    impl->settle_all(ResolvedBy::cancelled, "cellgate is ending", std::nullopt);
    impl->pump();
    impl->scope.cancel();
    co_await shielded(impl->scope.join());
    co_await shielded(impl->policy.close());
}

} // namespace cellgate::gate
