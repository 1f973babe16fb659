#include "decisions.hpp"

#include "base/encoding.hpp"
#include "columns.hpp"
#include "display.hpp"
#include "payload.hpp"

#include <algorithm>

namespace cellgate::gate {

namespace {

std::size_t bytes_of_lines(const std::vector<std::string>& lines) {
    std::size_t bytes = 0;
    for (const std::string& line : lines) {
        bytes += line.size();
    }
    return bytes;
}

} // namespace

void Decisions::on_decided(const Decision& decision, const protocol::PastDecision& past) {
    const bool answered = decision.by == protocol::ResolvedBy::user || decision.by == protocol::ResolvedBy::elicitation;
    std::deque<Entry>& list = answered ? answered_ : others_;
    if (list.size() == (answered ? max_answered : max_others)) {
        list.pop_front();
    }
    Entry& entry = list.emplace_back();
    entry.said = past;
    count_ = decision.action_id;
    entry.whole = payload_bytes(decision.action) <= max_payload_bytes;
    entry.action = entry.whole ? decision.action : without_payload(decision.action);
}

void Decisions::on_ended(ActionId action, const protocol::Outcome& outcome) {
    for (std::deque<Entry>* list : {&answered_, &others_}) {
        const auto found =
            std::lower_bound(list->begin(), list->end(), action,
                             [](const Entry& entry, ActionId number) { return entry.said.number < number; });
        if (found != list->end() && found->said.number == action) {
            found->said.outcome = outcome;
        }
    }
}

protocol::PastDecision Decisions::shown(const Entry& entry) {
    protocol::PastDecision past = entry.said;
    if (entry.whole) {
        past.display = display_lines(entry.action);
    }
    if (!entry.whole || bytes_of_lines(past.display) > max_display_bytes) {
        past.display = title_lines(without_payload(entry.action));
    } else {
        past.action = to_protocol(entry.action);
    }
    return past;
}

void Decisions::add_newest(const std::deque<Entry>& entries, std::vector<protocol::PastDecision>& list) {
    std::size_t bytes = 0;
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
        protocol::PastDecision past = shown(*entry);
        bytes += to_json(past).size();
        if (bytes > max_list_bytes / 2) {
            return;
        }
        list.push_back(std::move(past));
    }
}

protocol::PolicyDecisionsResult Decisions::list() const {
    protocol::PolicyDecisionsResult result;
    add_newest(answered_, result.decisions);
    add_newest(others_, result.decisions);
    std::sort(result.decisions.begin(), result.decisions.end(),
              [](const auto& a, const auto& b) { return a.number > b.number; });
    result.forgotten = count_ - static_cast<std::int64_t>(result.decisions.size());
    return result;
}

} // namespace cellgate::gate
