// The answers that agents' own programs give.

#include "gate/question_lines.hpp"
#include "gate_impl.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::gate {

namespace {

// Of a question that an agent's own program shows: its user would hardly read a longer one.
constexpr std::size_t max_elicited_bytes = std::size_t{16} << 10;

std::string_view refusal_in_words(protocol::Refusal how) {
    switch (how) {
    case protocol::Refusal::declined:
        break;
    case protocol::Refusal::cancelled:
        return "the user of the agent's program closed the question without an answer";
    case protocol::Refusal::not_ticked:
        return "the user of the agent's program accepted the question without ticking that it is allowed";
    }
    return "the user of the agent's program said no";
}

} // namespace

Task<void> Gate::Impl::elicit(std::shared_ptr<Impl> self, PendingRequestPtr entry) {
    protocol::ApprovalElicitResult answer;
    answer.decision = Verdict::deny;
    const bool offered =
        std::any_of(entry->approval.choices.begin(), entry->approval.choices.end(),
                    [](const protocol::Choice& choice) { return choice.scope == Scope::execution && !choice.rule; });
    std::string problem;
    std::size_t bytes = 0;
    for (const std::string& line : question_lines(entry->approval)) {
        bytes += line.size() + 1;
    }
    if (bytes > max_elicited_bytes) {
        problem = fmt::format("it takes {} bytes to show, too much for a question in the agent's own program", bytes);
    } else {
        try {
            answer = co_await self->options.elicitor->elicit(*entry->request.agent, entry->approval, offered);
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            problem = error.message;
        }
    }
    if (entry->decision) {
        co_return;
    }
    Decision decision = self->elicited(*entry, answer);
    if (!problem.empty()) {
        decision = denied(entry->request.action, ResolvedBy::no_client,
                          fmt::format("{}; and {}", no_approver_reason(entry->request), problem));
    }
    if (decision.allowed && offered && answer.scope == Scope::execution) {
        decision.rule = co_await grant_until_end(self, entry);
        if (entry->decision) {
            co_return;
        }
    }
    const bool granted = decision.rule.has_value();
    self->settle(entry, std::move(decision));
    if (granted) {
        self->reconsider(entry->request.session_id);
    }
    self->pump();
}

Task<std::optional<Rule>> Gate::Impl::grant_until_end(std::shared_ptr<Impl> self, PendingRequestPtr entry) {
    protocol::ApprovalRespondParams params;
    params.decision = Verdict::allow;
    params.scope = Scope::execution;
    std::vector<Rule> rules;
    std::map<std::string, Grantee> grantees;
    try {
        PathSnapshot paths = self->policy.snapshot();
        rules.push_back(self->grant(*entry, entry->request.action, params, paths));
    } catch (const Error&) {
        co_return std::nullopt; // it was allowed once, all the same
    }
    grantees[rules.front().id] = entry->context().agent;
    const Rule rule = rules.front();
    co_await shielded(self->policy.rules().add(std::move(rules), std::move(grantees)));
    co_return rule;
}

Decision Gate::Impl::elicited(const PendingRequest& entry, const protocol::ApprovalElicitResult& answer) {
    if (answer.decision != Verdict::allow) {
        return denied(entry.request.action, ResolvedBy::elicitation,
                      std::string(refusal_in_words(answer.how.value_or(protocol::Refusal::declined))));
    }
    try {
        refresh();
        policy.rules().require_readable();
    } catch (const Error& error) {
        return denied(entry.request.action, ResolvedBy::elicitation, error.message);
    }
    if (entry.approval.confirm) {
        return denied(entry.request.action, ResolvedBy::no_client, no_approver_reason(entry.request));
    }
    Decision decision;
    decision.allowed = true;
    decision.action = entry.request.action;
    decision.reason = "the user of the agent's program allowed it";
    decision.by = ResolvedBy::elicitation;
    return decision;
}

} // namespace cellgate::gate
