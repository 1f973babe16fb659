#include "rule_book.hpp"

#include "base/escape_unprintable.hpp"
#include "base/hash.hpp"
#include "base/paths.hpp"
#include "columns.hpp"
#include "rule_tests.hpp"
#include "rules.hpp"
#include "visible_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cellgate::gate {

namespace {

using protocol::Effect;
using protocol::Rule;
using protocol::RuleSource;

std::string resolved_root(const std::string& root) {
    const std::optional<std::string> path = resolve_path(root, "/");
    if (!path) {
        throw Error(ErrorCode::config_invalid, fmt::format("cannot resolve the root {}", visible_name(root)),
                    "choose a folder that you can read");
    }
    return *path;
}

std::string outside(const std::string& directory, const std::string& root) {
    const std::optional<std::string> path = resolve_path(directory, "/");
    if (!path || is_within(*path, root)) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("the folder {} cannot be a workspace: it holds the stored rules ({}), which code there "
                                "could change",
                                visible_name(root), visible_name(directory)),
                    "keep what you run in a folder of its own, and open that; or set XDG_CONFIG_HOME to a folder that "
                    "is not in the workspace");
    }
    return *path;
}

// deny rule > confirmed grant of this execution or session > ask rule with confirm > other grant of this execution or
// session > ask rule > allow rule or stored grant.
int rank(const Rule& rule, bool confirmed) {
    switch (rule.effect) {
    case Effect::deny:
        return 6;
    case Effect::ask:
        return rule.confirm ? 4 : 2;
    case Effect::inspect:
    case Effect::review:
        return 0; // it decides nothing
    case Effect::allow:
        break;
    }
    const bool grant = rule.source == RuleSource::execution || rule.source == RuleSource::session;
    return !grant ? 1 : confirmed ? 5 : 3;
}
constexpr int highest_rank = 6;

void append(std::vector<Rule>& rules, const std::vector<Rule>& more, WallTime now) {
    std::copy_if(more.begin(), more.end(), std::back_inserter(rules),
                 [now](const Rule& rule) { return !is_expired(rule, now); });
}

bool erase(std::vector<Rule>& rules, const std::string& id) {
    return std::erase_if(rules, [&id](const Rule& rule) { return rule.id == id; }) > 0;
}

bool holds(const std::vector<Rule>& rules, const std::string& id) {
    return std::any_of(rules.begin(), rules.end(), [&id](const Rule& rule) { return rule.id == id; });
}

// False for an allow rule with a test that comes out otherwise. Another rule holds all the same: it is the narrower
// way.
bool holds(const Rule& rule, PathSnapshot& paths, PolicyResult& result) {
    const std::optional<std::string> failed = failed_test(rule, paths);
    if (!failed) {
        return true;
    }
    const bool allows = rule.effect == Effect::allow;
    result.failed_tests.push_back(
        fmt::format("{} {}: {}", describe(rule), allows ? "does not hold" : "may not be as it was meant", *failed));
    return !allows;
}

PolicyResult decided(PolicyResult result, const Rule& rule) {
    constexpr std::array words = {std::pair(Effect::allow, "allowed by"), std::pair(Effect::ask, "asked for by"),
                                  std::pair(Effect::deny, "denied by")};
    const auto* word =
        std::find_if(words.begin(), words.end(), [&](const auto& each) { return each.first == rule.effect; });
    result.effect = rule.effect;
    result.rule = rule;
    result.reason = fmt::format("{} {}", word->second, describe(rule));
    if (rule.effect != Effect::allow && !result.failed_tests.empty()) {
        result.reason += "; " + result.failed_tests.back();
    }
    return result;
}

// As RuleBook::use().
std::optional<std::int64_t> take_use(std::vector<Rule>& rules, const std::string& id) {
    const auto rule = std::find_if(rules.begin(), rules.end(), [&id](const Rule& each) { return each.id == id; });
    if (rule == rules.end() || !rule->uses) {
        return std::nullopt;
    }
    const std::int64_t left = --*rule->uses;
    if (left == 0) {
        rules.erase(rule);
    }
    return left;
}

} // namespace

RuleBook::RuleBook(Clock& clock, RunBlocking run_blocking, std::string root, const std::string& policy_directory)
    : clock_(clock), run_blocking_(std::move(run_blocking)), root_(resolved_root(root)),
      user_(outside(policy_directory, root_), user_rules_file, RuleSource::user_store, "rules for every root"),
      workspace_(outside(policy_directory, root_), fmt::format("root-{}.json", sha256(root_)),
                 RuleSource::workspace_store, fmt::format("rules for {}", escape_unprintable(root_))) {}

bool RuleBook::refresh() {
    const bool user_changed = user_.refresh();
    return workspace_.refresh() || user_changed;
}

void RuleBook::require_readable() const {
    for (const RuleStore* store : {&user_, &workspace_}) {
        if (store->problem()) {
            throw *store->problem();
        }
    }
}

const RuleBook::Execution* RuleBook::running(const RequestContext& context) const {
    if (!context.execution_id || !context.session_id) {
        return nullptr;
    }
    const auto found = executions_.find(*context.execution_id);
    return found != executions_.end() && found->second.session_id == *context.session_id ? &found->second : nullptr;
}

bool RuleBook::is_running(const RequestContext& context) const {
    return running(context) != nullptr;
}

std::vector<const std::vector<Rule>*> RuleBook::rules_for(const RequestContext& context) const {
    std::vector<const std::vector<Rule>*> lists{&configured_, &user_.rules(), &workspace_.rules()};
    if (context.session_id) {
        if (const auto session = sessions_.find(*context.session_id); session != sessions_.end()) {
            lists.push_back(&session->second);
        }
    }
    if (const Execution* execution = running(context)) {
        lists.push_back(&execution->rules);
    }
    return lists;
}

// An execution that ran with approvals "deny" may leave a thread or a timer in the kernel; its calls raise no prompt
// either. Which execution left it is unknown: the last one counts.
bool RuleBook::prompts_disabled(const RequestContext& context) const {
    if (const Execution* execution = running(context)) {
        return execution->mode == protocol::ApprovalMode::deny;
    }
    if (!context.from_code || !context.session_id || context.execution_id) {
        return false;
    }
    const auto last = last_modes_.find(*context.session_id);
    return last != last_modes_.end() && last->second == protocol::ApprovalMode::deny;
}

// A grant to a user's code does not cover an agent's code in the same kernel, and the other way round.
bool RuleBook::applies_to(const Rule& rule, const RequestContext& context) const {
    const auto given = given_.find(rule.id);
    return rule.effect != Effect::allow || given == given_.end() || given->second.to == context.agent;
}

int RuleBook::rank_of(const Rule& rule) const {
    const auto given = given_.find(rule.id);
    return rank(rule, given != given_.end() && given->second.confirmed);
}

void RuleBook::forget(const std::vector<Rule>& rules) {
    for (const Rule& rule : rules) {
        given_.erase(rule.id);
    }
}

PolicyResult RuleBook::evaluate(const Payload& payload, const RequestContext& context, PathSnapshot& paths) const {
    for (const RuleStore* store : {&user_, &workspace_}) {
        if (store->problem()) {
            return PolicyResult{Effect::deny, std::nullopt, store->problem()->message};
        }
    }
    const WallTime now = clock_.wall();
    PolicyResult result;
    const Rule* best = nullptr;
    for (const std::vector<Rule>* rules : rules_for(context)) {
        for (const Rule& rule : *rules) {
            const bool too_wide = context.needs_explicit_host_rule && rule.effect == Effect::allow && !rule.host;
            if ((best == nullptr || rank_of(rule) > rank_of(*best)) && !too_wide && !is_expired(rule, now) &&
                applies_to(rule, context) && applies(rule, payload, paths) && holds(rule, paths, result)) {
                best = &rule;
                if (rank_of(rule) == highest_rank) {
                    return decided(std::move(result), rule);
                }
            }
        }
    }
    if (best != nullptr && (best->effect == Effect::allow || !prompts_disabled(context))) {
        return decided(std::move(result), *best);
    }
    result.rule = best != nullptr ? std::optional(*best) : std::nullopt;
    result.reason = result.failed_tests.empty() ? "no rule covers it" : result.failed_tests.front();
    if (const auto* output = std::get_if<Output>(&payload.action()); output != nullptr && best == nullptr) {
        result.effect = output->results ? Effect::ask : Effect::allow;
    }
    if (result.effect == Effect::ask && prompts_disabled(context)) {
        result.effect = Effect::deny;
        result.reason = running(context) != nullptr
                            ? "nothing allows it, and this execution runs with approvals \"deny\": no user is asked"
                            : "nothing allows it, and the last execution ran with approvals \"deny\": no user is asked";
    }
    return result;
}

std::vector<Rule> RuleBook::in_force() const {
    const WallTime now = clock_.wall();
    std::vector<Rule> rules;
    append(rules, configured_, now);
    append(rules, user_.rules(), now);
    append(rules, workspace_.rules(), now);
    for (const auto& [id, session] : sessions_) {
        append(rules, session, now);
    }
    for (const auto& [id, execution] : executions_) {
        append(rules, execution.rules, now);
    }
    return rules;
}

template <class Wanted>
std::vector<Rule> RuleBook::rules_where(const RequestContext& context, const Wanted& wanted) const {
    const WallTime now = clock_.wall();
    std::vector<Rule> found;
    for (const std::vector<Rule>* rules : rules_for(context)) {
        std::copy_if(rules->begin(), rules->end(), std::back_inserter(found),
                     [&](const Rule& rule) { return wanted(rule) && !is_expired(rule, now); });
    }
    return found;
}

std::vector<Rule> RuleBook::request_rules(const RequestContext& context) const {
    return rules_where(context, [](const Rule& rule) { return rule.kind == protocol::ActionKind::request; });
}

std::vector<Rule> RuleBook::review_rules(const RequestContext& context) const {
    return rules_where(context, [](const Rule& rule) { return rule.effect == Effect::review; });
}

Task<void> RuleBook::write(RuleStore* store, std::function<void(std::vector<Rule>&)> change) {
    const Mutex::Lock lock = co_await writing_.lock();
    std::function<void()> work = [store, &change] { store->replace(change); };
    co_await finally(run_blocking_(std::move(work)), read_again(store));
    require_readable();
}

Task<void> RuleBook::read_again(RuleStore* store) {
    store->refresh();
    co_return;
}

Task<void> RuleBook::add(std::vector<Rule> rules, std::map<std::string, Grantee> grantees, bool confirmed) {
    for (RuleStore* store : {&user_, &workspace_}) {
        const RuleSource source = store == &user_ ? RuleSource::user_store : RuleSource::workspace_store;
        std::vector<Rule> mine;
        std::copy_if(rules.begin(), rules.end(), std::back_inserter(mine),
                     [source](const Rule& rule) { return rule.source == source; });
        if (!mine.empty()) {
            std::function<void(std::vector<Rule>&)> change = [mine, now = clock_.wall()](std::vector<Rule>& stored) {
                std::erase_if(stored, [now](const Rule& rule) { return is_expired(rule, now); });
                stored.insert(stored.end(), mine.begin(), mine.end());
            };
            co_await write(store, std::move(change));
        }
    }
    for (const auto& [id, grantee] : grantees) {
        given_[id] = {grantee, confirmed};
    }
    for (const Rule& rule : rules) {
        if (rule.source == RuleSource::execution) {
            executions_.at(*rule.execution_id).rules.push_back(rule);
        } else if (rule.source == RuleSource::session) {
            sessions_[*rule.session_id].push_back(rule);
        }
    }
}

void RuleBook::withdraw(const std::string& rule_id) {
    erase(configured_, rule_id);
}

Task<void> RuleBook::remove(std::string rule_id) {
    const auto built_in = [&rule_id](const Rule& rule) {
        return rule.id == rule_id && rule.source == RuleSource::default_rule;
    };
    if (std::any_of(configured_.begin(), configured_.end(), built_in)) {
        throw Error(ErrorCode::rule_invalid, fmt::format("rule {} is built in and stays", visible_name(rule_id)));
    }
    given_.erase(rule_id);
    bool removed = erase(configured_, rule_id);
    for (auto& [id, rules] : sessions_) {
        removed = erase(rules, rule_id) || removed;
    }
    for (auto& [id, execution] : executions_) {
        removed = erase(execution.rules, rule_id) || removed;
    }
    for (RuleStore* store : {&user_, &workspace_}) {
        if (!removed && holds(store->rules(), rule_id)) {
            std::function<void(std::vector<Rule>&)> change = [rule_id](std::vector<Rule>& rules) {
                erase(rules, rule_id);
            };
            co_await write(store, std::move(change));
            removed = true;
        }
    }
    if (!removed) {
        require_readable();
        throw Error(ErrorCode::rule_invalid,
                    fmt::format("expected the id of a rule in force, found {}", cut_to_line(rule_id, max_columns)),
                    "the list of rules has their ids");
    }
}

Task<std::optional<std::int64_t>> RuleBook::use(std::string rule_id) {
    std::optional<std::int64_t> left = take_use(configured_, rule_id);
    for (auto session = sessions_.begin(); !left && session != sessions_.end(); ++session) {
        left = take_use(session->second, rule_id);
    }
    for (auto execution = executions_.begin(); !left && execution != executions_.end(); ++execution) {
        left = take_use(execution->second.rules, rule_id);
    }
    for (RuleStore* store : {&user_, &workspace_}) {
        if (!left && holds(store->rules(), rule_id)) {
            std::function<void(std::vector<Rule>&)> change = [&rule_id, &left](std::vector<Rule>& rules) {
                left = take_use(rules, rule_id);
            };
            co_await write(store, std::move(change));
        }
    }
    if (left == 0) {
        given_.erase(rule_id);
    }
    co_return left;
}

void RuleBook::set_session_rules(const std::string& session_id, const std::vector<SessionRule>& rules) {
    std::vector<Rule> made;
    for (const SessionRule& given : rules) {
        Rule rule = make_rule(given.spec, RuleSource::session, clock_.wall());
        rule.session_id = session_id;
        rule.server_identity = given.server_identity;
        check_new_rule(rule, clock_.wall());
        made.push_back(std::move(rule));
    }
    std::vector<Rule>& all = sessions_[session_id];
    std::vector<std::string>& ids = from_settings_[session_id];
    for (const std::string& id : ids) {
        erase(all, id);
    }
    ids.clear();
    for (Rule& rule : made) {
        ids.push_back(rule.id);
        all.push_back(std::move(rule));
    }
}

void RuleBook::begin_execution(const std::string& session_id, const std::string& execution_id,
                               protocol::ApprovalMode mode, const std::vector<std::string>& hosts) {
    std::vector<protocol::RuleSpec> grants;
    if (mode == protocol::ApprovalMode::allow) {
        grants.emplace_back().effect = Effect::allow;
    }
    for (const std::string& host : hosts) {
        protocol::RuleSpec& grant = grants.emplace_back();
        grant.effect = Effect::allow;
        grant.kind = protocol::ActionKind::network;
        grant.host = host;
    }
    Execution execution{session_id, mode, {}};
    for (protocol::RuleSpec& spec : grants) {
        Rule grant = make_rule(std::move(spec), RuleSource::execution, clock_.wall());
        grant.session_id = session_id;
        grant.execution_id = execution_id;
        given_[grant.id] = {}; // only a user can give it
        execution.rules.push_back(std::move(grant));
    }
    end_execution(execution_id);
    executions_.emplace(execution_id, std::move(execution));
    last_modes_[session_id] = mode;
}

void RuleBook::end_execution(const std::string& execution_id) {
    if (const auto execution = executions_.find(execution_id); execution != executions_.end()) {
        forget(execution->second.rules);
        executions_.erase(execution);
    }
}

void RuleBook::end_session(const std::string& session_id) {
    forget(sessions_[session_id]);
    sessions_.erase(session_id);
    from_settings_.erase(session_id);
    last_modes_.erase(session_id);
    std::erase_if(executions_, [&](const auto& entry) {
        const bool ends = entry.second.session_id == session_id;
        if (ends) {
            forget(entry.second.rules);
        }
        return ends;
    });
}

} // namespace cellgate::gate
