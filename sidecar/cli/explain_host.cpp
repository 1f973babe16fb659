#include "explain_host.hpp"

#include "async/loop.hpp"
#include "base/enum_name.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "base/sync.hpp"
#include "egress/public_address_policy.hpp"
#include "egress/settings_rules.hpp"
#include "gate/gate.hpp"
#include "json_output.hpp"
#include "sandbox/explain.hpp"
#include "sandbox/home.hpp"
#include "sandbox/launcher.hpp"
#include "store/directories.hpp"

#include <fmt/format.h>

namespace cellgate::cli {

namespace {

constexpr const char* session = "explained";

// An attached user, so that an action that would be asked about is not explained as denied.
struct Somebody final : gate::ApprovalClient {
    void on_requested(const protocol::Approval&) override {}
    void on_resolved(const protocol::ApprovalResolvedParams&) override {}
};

Task<void> leave(gate::Gate* gate, Somebody* somebody) {
    gate->detach(*somebody, Duration::zero());
    co_await gate->close();
}

Task<void> ask_rules(async::Loop* loop, const std::string* workspace, const sandbox::HostQuery* host,
                     const sandbox::Settings* settings, protocol::PolicyExplainResult* result) {
    gate::GateOptions options;
    options.root = *workspace;
    options.policy_directory = store::find_directories(process_environment()).config + "/policy";
    options.run_blocking = [loop](std::function<void()> work) { return loop->run_blocking(std::move(work)); };
    gate::Gate gate(loop->clock(), std::move(options));
    Somebody somebody;
    gate.attach(somebody);
    std::vector<gate::SessionRule> rules;
    for (protocol::RuleSpec& rule : egress::rules_of(settings)) {
        rules.push_back({std::move(rule)});
    }
    gate.set_session_rules(session, rules);
    protocol::PolicyExplainParams params;
    params.session_id = session;
    params.action.kind = protocol::ActionKind::network;
    params.action.host = host->host.name;
    if (host->port) {
        params.action.port = *host->port;
    }
    protocol::PolicyExplainResult said =
        co_await finally(gate.policy_explain(std::move(params)), leave(&gate, &somebody));
    *result = egress::taken_by_proxy(std::move(said), host->host);
}

} // namespace

bool is_ambiguous_address(const std::string& subject) {
    return !subject.empty() && (subject.front() == '[' || (subject.front() >= '0' && subject.front() <= '9')) &&
           subject.find_first_not_of("0123456789abcdefABCDEFxX.:[]%") == std::string::npos &&
           !sandbox::parse_host_query(subject);
}

void print_host(const std::string& host, protocol::Effect effect, const std::string& reason, bool as_json) {
    if (as_json) {
        print_json({{"host", host}, {"effect", enum_name(effect)}, {"reason", reason}});
        return;
    }
    const char* word = effect == protocol::Effect::allow  ? "allowed"
                       : effect == protocol::Effect::deny ? "denied"
                                                          : "asked about";
    fmt::print("{}: {}\n  by: {}\n", escape_unprintable(host), word, escape_unprintable(reason));
}

int explain_host(const std::string& workspace, const sandbox::HostQuery& host, const sandbox::Settings* settings,
                 bool as_json) {
    protocol::PolicyExplainResult result;
    async::Loop loop;
    loop.run(ask_rules(&loop, &workspace, &host, settings, &result));
    const std::string shown = host.port ? to_string(Endpoint{host.host, *host.port}) : host.host.name;
    std::string reason = result.reason;
    if (result.rule && result.rule->source == protocol::RuleSource::session) {
        reason = sandbox::explain_host(settings, host).reason; // its line
    } else if (result.effect == protocol::Effect::ask && !result.rule) {
        reason = sandbox::explain_host(settings, host).reason + ", and no stored rule covers it";
    }
    print_host(shown, result.effect, reason, as_json);
    if (!as_json && result.effect != protocol::Effect::deny && !host.host.is_address &&
        !egress::needs_explicit_host_rule(host.host, "")) {
        fmt::print("  where it leads is judged when it is looked up, after the yes\n");
    }
    return result.effect == protocol::Effect::allow ? 0 : 1;
}

} // namespace cellgate::cli
