#include "decisions.hpp"

#include "base/encoding.hpp"
#include "columns.hpp"
#include "display.hpp"

#include <algorithm>

namespace cellgate::gate {

namespace {

constexpr std::size_t max_reason_columns = 400;

std::size_t payload_bytes(const protocol::Action& action) {
    std::size_t bytes = 0;
    for (const std::optional<RawJson>& json : {action.arguments, action.sandbox_settings}) {
        bytes += json ? json->text().size() : 0;
    }
    for (const auto* texts : {&action.command, &action.environment_names, &action.folders}) {
        for (const std::string& text : texts->value_or(std::vector<std::string>())) {
            bytes += text.size();
        }
    }
    for (const auto& [name, value] : action.environment.value_or(std::map<std::string, std::string>())) {
        bytes += name.size() + value.size();
    }
    return bytes;
}

protocol::Action without_payload(const protocol::Action& action) {
    protocol::Action kept;
    kept.kind = action.kind;
    kept.server = action.server;
    kept.tool = action.tool;
    kept.sandbox = action.sandbox;
    kept.host = action.host;
    kept.port = action.port;
    return kept;
}

} // namespace

void Decisions::add(const Request& request, const Decision& decision, std::optional<std::string> approval_id,
                    WallTime at) {
    std::deque<Entry>& list = approval_id ? asked_ : others_;
    if (list.size() == (approval_id ? most_asked : most_others)) {
        list.pop_front();
    }
    Entry& entry = list.emplace_back();
    entry.number = count_++;
    entry.at = at;
    entry.whole = payload_bytes(decision.action) <= most_payload_bytes;
    entry.action = entry.whole ? decision.action : without_payload(decision.action);
    entry.said.decision = decision.allowed ? protocol::Verdict::allow : protocol::Verdict::deny;
    entry.said.by = decision.by;
    entry.said.rule = decision.rule;
    entry.said.reason = cut_to_line(decision.reason, max_reason_columns);
    entry.said.approval_id = std::move(approval_id);
    entry.said.session_id = request.session_id;
    entry.said.execution_id = request.execution_id;
    entry.said.agent = name_of(request.agent);
    entry.said.origin = request.origin;
    if (entry.said.origin) {
        entry.said.origin->text = cut_to_line(entry.said.origin->text, max_source_columns);
    }
}

protocol::PastDecision Decisions::shown(const Entry& entry) const {
    protocol::PastDecision past = entry.said;
    past.decided_at = to_rfc3339(entry.at);
    past.display = display_lines(entry.action);
    if (entry.whole) {
        past.action = entry.action;
    }
    return past;
}

protocol::PolicyDecisionsResult Decisions::list() const {
    std::vector<const Entry*> entries;
    for (const std::deque<Entry>* list : {&asked_, &others_}) {
        for (const Entry& entry : *list) {
            entries.push_back(&entry);
        }
    }
    std::sort(entries.begin(), entries.end(), [](const Entry* a, const Entry* b) { return a->number > b->number; });
    protocol::PolicyDecisionsResult result;
    for (const Entry* entry : entries) {
        result.decisions.push_back(shown(*entry));
    }
    result.forgotten = count_ - static_cast<std::int64_t>(entries.size());
    return result;
}

} // namespace cellgate::gate
