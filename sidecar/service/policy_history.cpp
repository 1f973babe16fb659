#include "policy_history.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "base/json_scan.hpp"
#include "suggested_rule.hpp"
#include "tools/execution_rules.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace cellgate::service {

namespace {

constexpr auto looked_back = std::chrono::hours(24 * 30);
constexpr std::int64_t page_size = 1000;
constexpr int max_pages = 20;
constexpr const char* decided_type = "action.decided";

// Nothing if the record has only its hash.
std::optional<protocol::Action> action_of(const protocol::RecordEntry& entry) {
    const std::string_view action = json_member(entry.data.text(), "action");
    if (action.empty()) {
        return std::nullopt;
    }
    try {
        return from_json<protocol::Action>(std::string(action), "action");
    } catch (const Error&) {
        return std::nullopt; // of another version of cellgate
    }
}

// Not: no user was there to be asked, or it was withdrawn before it was answered.
bool was_decided(const protocol::RecordEntry& entry) {
    const std::string by = json_member_text(entry.data.text(), "by").value_or("");
    return by != "noClient" && by != "cancelled";
}

bool was_allowed(const protocol::RecordEntry& entry) {
    return json_member_text(entry.data.text(), "decision") == "allow";
}

} // namespace

Task<protocol::PolicyPreviewResult> PolicyHistory::preview(protocol::PolicyPreviewParams params) {
    gate_.policy_words(params.rule); // refuses one that could not be added
    protocol::PolicyPreviewResult result;
    result.since = to_rfc3339(clock_.wall() - looked_back);
    std::optional<std::int64_t> before;
    bool more = true;
    for (int page = 0; page < max_pages && more; ++page) {
        protocol::RecordQueryParams query;
        query.types = {decided_type};
        query.since = result.since;
        query.limit = page_size;
        query.before_seq = before;
        protocol::RecordQueryResult found = co_await activity_.query(std::move(query));
        more = found.more && !found.entries.empty();
        if (more) {
            before = found.entries.back().seq;
        }
        co_await count_covered(&params.rule, std::move(found.entries), &result);
    }
    co_return result;
}

// Newest first.
Task<void> PolicyHistory::count_covered(const protocol::RuleSpec* rule, std::vector<protocol::RecordEntry> entries,
                                        protocol::PolicyPreviewResult* result) {
    std::vector<protocol::Action> actions;
    std::vector<const protocol::RecordEntry*> of_action;
    for (const protocol::RecordEntry& entry : entries) {
        if (!was_decided(entry)) {
            continue;
        }
        if (std::optional<protocol::Action> action = action_of(entry)) {
            actions.push_back(std::move(*action));
            of_action.push_back(&entry);
        }
    }
    const std::vector<bool> covered = co_await gate_.policy_covers(*rule, std::move(actions));
    for (std::size_t i = 0; i < covered.size(); ++i) {
        if (!covered[i]) {
            continue;
        }
        const bool allowed = was_allowed(*of_action[i]);
        ++(allowed ? result->allowed : result->denied);
        const bool differs =
            rule->effect != protocol::Effect::ask && allowed != (rule->effect == protocol::Effect::allow);
        const bool is_first_that_differs = differs && (allowed ? result->allowed : result->denied) == 1;
        if (!result->example || is_first_that_differs) {
            result->example = *of_action[i];
        }
    }
}

Task<protocol::PolicyParseResult> PolicyHistory::suggest(protocol::PolicySuggestParams params) {
    std::vector<protocol::Action> actions;
    for (const std::int64_t seq : params.seqs) {
        protocol::RecordQueryParams query;
        query.before_seq = seq + 1;
        query.limit = 1;
        const protocol::RecordQueryResult found = co_await activity_.query(std::move(query));
        std::optional<protocol::Action> action;
        if (!found.entries.empty() && found.entries.front().seq == seq && found.entries.front().type == decided_type) {
            action = action_of(found.entries.front());
        }
        if (!action) {
            throw Error(ErrorCode::rule_invalid,
                        fmt::format("entry {} of the record is no decision about an action that is kept whole", seq));
        }
        actions.push_back(std::move(*action));
    }
    protocol::PolicyParseResult result;
    result.rule = suggested_rule(actions);
    result.words = gate_.policy_words(result.rule);
    co_return result;
}

Task<std::vector<std::string>> PolicyHistory::rules_of(std::string execution_id) {
    protocol::RecordQueryParams query;
    query.execution_id = execution_id;
    query.limit = 1;
    const protocol::RecordQueryResult known = co_await activity_.query_newest(query);
    if (known.entries.empty()) {
        throw Error(ErrorCode::execution_not_found,
                    fmt::format("the record has no execution \"{}\"", escape_unprintable(execution_id)));
    }
    query.types = {decided_type};
    query.limit = page_size;
    const protocol::RecordQueryResult decided = co_await activity_.query_newest(std::move(query));
    if (decided.more) {
        throw Error(ErrorCode::arguments_invalid,
                    fmt::format("the execution \"{}\" has more than {} decisions", execution_id, page_size),
                    "name what is allowed, each as a rule");
    }
    std::vector<protocol::Action> allowed;
    for (const protocol::RecordEntry& entry : decided.entries) {
        std::optional<protocol::Action> action = was_allowed(entry) ? action_of(entry) : std::nullopt;
        if (action) {
            allowed.push_back(std::move(*action));
        }
    }
    co_return tools::execution_rules(allowed);
}

} // namespace cellgate::service
