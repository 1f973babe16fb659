#include "result_review.hpp"

#include "base/escape_unprintable.hpp"
#include "base/scope_exit.hpp"
#include "client_hub.hpp"
#include "journal_records.hpp"
#include "shown_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace cellgate::service {

namespace {

constexpr std::size_t max_judged_bytes = std::size_t{8} << 20; // more is not read by a user
constexpr std::uint64_t page_bytes = std::uint64_t{1} << 20;
constexpr std::size_t send_below = std::size_t{4} << 20; // bytes in the connection's queue
constexpr std::int64_t all_records = std::numeric_limits<std::int64_t>::max();

gate::Request output_request(const std::optional<std::string>& session_id, const std::optional<gate::Agent>& agent,
                             const std::set<std::string>& tools) {
    gate::Output output;
    if (!tools.empty()) {
        output.results.emplace(tools.begin(), tools.end());
    }
    gate::Request request;
    request.action = std::move(output);
    request.session_id = session_id;
    request.agent = agent;
    return request;
}

gate::Request output_request(const session::Execution& execution, const std::optional<gate::Agent>& agent,
                             const std::set<std::string>& tools) {
    gate::Request request = output_request(execution.session_id, agent, tools);
    request.execution_id = execution.id;
    return request;
}

std::string names_of(const std::set<std::string>& tools) {
    constexpr std::size_t max_named = 10;
    std::vector<std::string> named(tools.begin(), tools.end());
    named.resize(std::min(named.size(), max_named));
    return fmt::format("{}{}", fmt::join(named, ", "), tools.size() > max_named ? " and others" : "");
}

// In place of the output.
template <class Withheld>
std::string line_of(const session::Execution& execution, const Withheld& withheld) {
    const std::string because =
        withheld.tools.empty() ? "a user's rule is about what agents get"
                               : fmt::format("the session may have results of {}, which a user wants to see before an "
                                             "agent does",
                                             names_of(withheld.tools));
    return escape_unprintable(
        fmt::format("{} bytes of output are withheld: {}. {}; code can go on computing with the values in the session",
                    execution.journal.output_bytes(), withheld.why, because));
}

template <class Withheld>
Error denial(const session::Execution& execution, const Withheld& withheld) {
    return Error(ErrorCode::denied, line_of(execution, withheld), "ask the user to allow the output of agents");
}

// Without what code chose, and no user saw.
template <class Withheld>
protocol::ExecuteResult shown_result(const session::Execution& execution, const Withheld& withheld) {
    protocol::ExecuteResult result = execution.result;
    result.execution_count.value.reset();
    if (withheld.allowed) {
        return result;
    }
    result.reason = line_of(execution, withheld);
    if (result.error) { // the protocol has one wherever the status is `error`
        result.error.emplace();
        result.error->ename = "Withheld";
        result.error->evalue = *result.reason;
    }
    result.output_problem.reset();
    result.notes.reset();
    return result;
}

} // namespace

ResultReview::ResultReview(gate::Gate& gate, RunBlocking run_blocking, ClientHub& clients)
    : gate_(gate), run_blocking_(std::move(run_blocking)) {
    clients.set_review(*this);
}

void ResultReview::result_reviewed(const std::string& session_id, const session::Execution* running,
                                   const std::string& tool) {
    tools_[session_id].insert(tool);
    if (running == nullptr) {
        return;
    }
    withhold(*running, running->journal.next_seq());
    const WithheldPtr withheld = find(*running);
    if (withheld && !withheld->decided) {
        withheld->tools.insert(tool);
    }
}

void ResultReview::result_copied(const std::string& from, const std::string& to) {
    if (const auto marked = tools_.find(from); marked != tools_.end() && from != to) {
        const std::set<std::string> tools = marked->second;
        tools_[to].insert(tools.begin(), tools.end());
    }
}

void ResultReview::require_copy_allowed(const std::string& from, const std::string& to, const gate::Agent& agent) {
    for (const std::string& session_id : {from, to}) {
        const auto marked = tools_.find(session_id);
        const std::set<std::string> tools = marked == tools_.end() ? std::set<std::string>() : marked->second;
        if (!gate_.allows_output(output_request(session_id, agent, tools))) {
            throw Error(ErrorCode::denied,
                        "a user has to see what agents get of these sessions: variables of them are "
                        "not copied for an agent",
                        "write the value to a file of the workspace, which both sessions can read");
        }
    }
}

// Also of an execution that finished: a thread of its code may go on.
void ResultReview::output_recorded(const session::Execution& execution, std::int64_t seq) {
    if (tools_.contains(execution.session_id) && execution.state == protocol::ExecutionState::finished) {
        withhold(execution, seq);
    }
}

void ResultReview::withhold(const session::Execution& execution, std::int64_t open) {
    const auto marked = tools_.find(execution.session_id);
    const std::set<std::string> tools = marked == tools_.end() ? std::set<std::string>() : marked->second;
    if (find(execution) || (tools.empty() && !execution.agent)) {
        return;
    }
    const bool allowed = gate_.allows_output(output_request(execution, execution.agent, tools));
    if (allowed && tools.empty()) {
        return;
    }
    std::erase_if(withheld_, [](const auto& each) { return each.second->execution.expired(); });
    auto withheld = std::make_shared<Withheld>();
    withheld->execution = execution.weak_from_this();
    withheld->open = allowed ? all_records : open;
    withheld->tools = tools;
    withheld->allowed = allowed || execution.state == protocol::ExecutionState::finished; // its result was sent
    withheld->decided = withheld->allowed;
    withheld_[execution.id] = std::move(withheld);
}

ResultReview::WithheldPtr ResultReview::find(const session::Execution& execution) const {
    const auto found = withheld_.find(execution.id);
    return found != withheld_.end() && found->second->execution.lock().get() == &execution ? found->second : nullptr;
}

ResultReview::WithheldPtr ResultReview::find_from(const session::Execution& execution, const gate::Agent& agent) {
    const WithheldPtr withheld = find(execution);
    const bool readable = withheld && gate_.allows_output(output_request(execution, agent, withheld->tools));
    return readable ? nullptr : withheld;
}

bool ResultReview::hides(const std::string& execution_id) const {
    const auto found = withheld_.find(execution_id);
    return found != withheld_.end() && !found->second->allowed && !found->second->execution.expired();
}

bool ResultReview::hides(const session::Execution& execution, std::int64_t seq) const {
    const WithheldPtr withheld = find(execution);
    return withheld && seq >= withheld->open;
}

bool ResultReview::hides(const std::optional<std::string>& session_id,
                         const std::optional<std::string>& execution_id) const {
    return (session_id && tools_.contains(*session_id)) || (execution_id && hides(*execution_id));
}

bool ResultReview::is_undecided(const session::Execution& execution) const {
    const WithheldPtr withheld = find(execution);
    return withheld && !withheld->decided;
}

Task<protocol::ExecuteResult> ResultReview::result_for(Client* client, std::shared_ptr<session::Execution> execution) {
    const WithheldPtr withheld = client->agent ? find(*execution) : nullptr;
    if (withheld && !withheld->decided) {
        co_await decide(client, execution, withheld);
    }
    co_return withheld && withheld->open != all_records ? shown_result(*execution, *withheld) : execution->result;
}

void ResultReview::abandon(const session::Execution& execution) {
    const WithheldPtr withheld = find(execution);
    if (withheld && !withheld->decided) {
        withheld->decided = true;
        withheld->why = "its request was cancelled";
    }
}

Task<void> ResultReview::decide(Client* client, std::shared_ptr<session::Execution> execution, WithheldPtr withheld) {
    const ScopeExit told([&] {
        withheld->decided = true;
        client->peer.notify<protocol::ExecuteChanged>(changed_params(*execution, std::nullopt));
    });
    const std::int64_t end = execution->journal.next_seq();
    withheld->why = "they are more than a user can read";
    if (execution->journal.output_bytes() > max_judged_bytes) {
        co_return;
    }
    try {
        gate::Output output;
        output.output_text = co_await text_of(execution);
        if (output.output_text.empty()) { // nothing to ask about
            withheld->open = end;
            withheld->allowed = true;
            co_return;
        }
        gate::Request request = output_request(*execution, execution->agent, withheld->tools);
        output.results = std::get<gate::Output>(request.action).results;
        request.action = std::move(output);
        withheld->why = "a user has to allow them first";
        const gate::Decision decision = co_await gate_.decide(std::move(request));
        gate::OutcomeReport outcome = gate_.outcome_report(decision);
        if (!decision.allowed) {
            withheld->why = decision.reason;
            co_return;
        }
        const std::int64_t from = std::exchange(withheld->open, end);
        withheld->allowed = true;
        co_await send(client, execution, from, end);
        outcome.succeeded();
    } catch (const Cancelled&) {
        withheld->why = "its request was cancelled";
        throw;
    } catch (const Error& error) {
        withheld->why = error.message;
    }
}

Task<std::string> ResultReview::text_of(std::shared_ptr<session::Execution> execution) {
    const std::int64_t end = execution->journal.next_seq();
    std::string text;
    std::int64_t from = 0;
    while (from < end) {
        std::vector<store::JournalRecord> records;
        std::function<void()> work = [&records, page = execution->journal.page(from, page_bytes)] {
            records = page.read();
        };
        co_await run_blocking_(std::move(work));
        from = records.empty() ? end : records.back().seq + records.back().count;
        for (const store::JournalRecord& record : records) {
            text += record.seq < end ? shown_text(record) : std::string();
        }
    }
    text += shown_text(execution->result, text);
    co_return text;
}

Task<void> ResultReview::send(Client* client, std::shared_ptr<session::Execution> execution, std::int64_t from,
                              std::int64_t end) {
    co_await client->outputs.flushed(execution->id);
    while (from < end) {
        co_await client->peer.connection().drained(send_below);
        std::vector<protocol::OutputRecord> records;
        std::function<void()> work = [&records, limit = client->outputs.inline_limit(),
                                      page = execution->journal.page(from, page_bytes)] {
            records = read_records(page, limit);
        };
        co_await run_blocking_(std::move(work));
        from = records.empty() ? end : records.back().seq + records.back().count;
        for (const protocol::OutputRecord& record : records) {
            if (record.seq < end) {
                client->outputs.notify(execution->id, record);
            }
        }
    }
}

std::int64_t ResultReview::readable_end(const session::Execution& execution, std::int64_t from,
                                        const gate::Agent& agent) {
    const WithheldPtr withheld = find_from(execution, agent);
    if (!withheld) {
        return all_records;
    }
    if (from >= withheld->open && (!withheld->allowed || execution.journal.next_seq() > withheld->open)) {
        throw denial(execution, *withheld);
    }
    return withheld->open;
}

protocol::ExecutionInfo ResultReview::shown_info(protocol::ExecutionInfo info, const session::Execution& execution,
                                                 const gate::Agent& agent) {
    const WithheldPtr withheld = find_from(execution, agent);
    if (!withheld || !info.result) {
        return info;
    }
    if (execution.client == agent.client && !withheld->decided) {
        info.state = protocol::ExecutionState::running;
        info.pending_approvals = 1;
        info.result.reset();
    } else {
        info.result = shown_result(execution, *withheld);
    }
    return info;
}

void ResultReview::require_shown(const session::Execution& execution, const gate::Agent& agent) {
    if (const WithheldPtr withheld = find_from(execution, agent)) {
        throw denial(execution, *withheld);
    }
}

Task<void> ResultReview::require_allowed(gate::Agent agent, std::optional<std::string> session_id, std::string tool,
                                         std::string text) {
    gate::Request request = output_request(session_id, agent, {tool});
    if (gate_.allows_output(request)) {
        co_return;
    }
    const std::size_t bytes = text.size();
    std::get<gate::Output>(request.action).output_text = std::move(text);
    const gate::Decision decision = co_await gate_.decide(std::move(request));
    gate::OutcomeReport outcome = gate_.outcome_report(decision);
    if (!decision.allowed) {
        throw Error(ErrorCode::denied,
                    escape_unprintable(fmt::format("{} bytes of the result of {} are withheld: {}. A user wants to see "
                                                   "them before an agent does",
                                                   bytes, tool, decision.reason)),
                    "call the tool from code, which gets its result and can compute with it");
    }
    outcome.succeeded();
}

} // namespace cellgate::service
