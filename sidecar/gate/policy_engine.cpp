#include "policy_engine.hpp"

#include "base/log.hpp"
#include "rule_tests.hpp"
#include "rules.hpp"

#include <algorithm>

namespace cellgate::gate {

using protocol::RuleSource;
using protocol::Scope;

Task<PolicyResult> PolicyEngine::evaluate(const Payload& payload, const RequestContext& context) {
    PathSnapshot paths = snapshot();
    PolicyResult result = rules_.evaluate(payload, context, paths);
    while (!paths.is_resolved()) {
        co_await resolve(paths);
        result = rules_.evaluate(payload, context, paths);
    }
    for (const std::string& failed : result.failed_tests) {
        if (logged_.insert(failed).second) {
            log_warning("{}", failed);
        }
    }
    co_return result;
}

Task<bool> PolicyEngine::reviews(const Payload& payload, const RequestContext& context) {
    const std::vector<protocol::Rule> rules = rules_.review_rules(context);
    PathSnapshot paths = snapshot();
    const auto covers = [&](const protocol::Rule& rule) { return matches(rule, payload, paths) != Match::no; };
    bool found = std::any_of(rules.begin(), rules.end(), covers);
    while (!paths.is_resolved()) {
        co_await resolve(paths);
        found = std::any_of(rules.begin(), rules.end(), covers);
    }
    co_return found;
}

Task<void> PolicyEngine::require_tests(const protocol::Rule* rule) {
    PathSnapshot paths = snapshot();
    std::optional<std::string> failed = failed_test(*rule, paths);
    while (!paths.is_resolved()) {
        co_await resolve(paths);
        failed = failed_test(*rule, paths);
    }
    if (failed) {
        throw Error(ErrorCode::rule_invalid, *failed, "change the rule, or the test");
    }
}

protocol::Rule PolicyEngine::make_added_rule(protocol::PolicyAddParams params) const {
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
    protocol::Rule rule = make_rule(std::move(params.rule), source, rules_.now());
    if (source == RuleSource::session) {
        rule.session_id = std::move(params.session_id);
    }
    check_new_rule(rule, rules_.now());
    return rule;
}

Task<protocol::PolicyExplainResult> PolicyEngine::explain(protocol::PolicyExplainParams params) {
    rules_.require_readable();
    const RequestContext context{params.session_id, params.execution_id, true};
    const Action action = from_protocol(params.action);
    const Payload payload(action);
    PolicyResult found = co_await evaluate(payload, context);
    protocol::PolicyExplainResult result;
    result.effect = found.effect;
    result.rule = std::move(found.rule);
    result.reason = std::move(found.reason);
    co_return result;
}

protocol::Rule PolicyEngine::make_checked_rule(protocol::RuleSpec spec) const {
    protocol::Rule rule = make_rule(std::move(spec), RuleSource::user_store, rules_.now());
    check_new_rule(rule, rules_.now());
    return rule;
}

Task<std::vector<bool>> PolicyEngine::covers(protocol::RuleSpec spec, std::vector<protocol::Action> actions) {
    const protocol::Rule rule = make_checked_rule(std::move(spec));
    std::vector<bool> covered;
    for (const protocol::Action& each : actions) {
        std::optional<Action> action;
        try {
            action = from_protocol(each);
        } catch (const Error&) {
            // One of another version of cellgate.
        }
        bool is_covered = false;
        if (action) {
            const Payload payload(*action);
            PathSnapshot paths = snapshot();
            is_covered = applies(rule, payload, paths);
            while (!paths.is_resolved()) {
                co_await resolve(paths);
                is_covered = applies(rule, payload, paths);
            }
        }
        covered.push_back(is_covered);
    }
    co_return covered;
}

} // namespace cellgate::gate
