// approval/*, policy/*: the gate's own methods, for users; and elicitation/*.

#include "base/escape_unprintable.hpp"
#include "base/host.hpp"
#include "client_action.hpp"
#include "egress/public_address_policy.hpp"
#include "handlers.hpp"
#include "policy_history.hpp"
#include "sandbox/home.hpp"
#include "tools/operation_rule.hpp"
#include "tools/rule_text.hpp"

namespace cellgate::service {

namespace {

struct GateMethods {
    SidecarServices& sidecar;
    Client& client;

    Task<Empty> respond(protocol::ApprovalRespondParams params) {
        co_await sidecar.gate.respond(std::move(params));
        co_return Empty{};
    }
    Task<Empty> answer(protocol::ElicitationRespondParams params) {
        sidecar.elicitations.respond(params);
        co_return Empty{};
    }
    Task<protocol::PolicyListResult> list_rules(Empty) { co_return sidecar.gate.policy_list(); }
    Task<protocol::PolicyDecisionsResult> list_decisions(Empty) {
        protocol::PolicyDecisionsResult list = sidecar.gate.policy_decisions();
        for (protocol::PastDecision& past : list.decisions) {
            if (sidecar.registry.dispatcher().is_running(past.number)) {
                past.cancellable = true;
            }
        }
        co_return list;
    }
    Task<Empty> cancel(protocol::ActionCancelParams params) {
        sidecar.registry.dispatcher().cancel(params.number);
        co_return Empty{};
    }
    Task<protocol::ActionDecideResult> decide(protocol::ActionDecideParams params) {
        gate::Request request = client_request(std::move(params), client.agent);
        if (request.session_id && sidecar.sessions.has(*request.session_id)) {
            throw Error(ErrorCode::session_exists, "params.clientSession: a session of the workspace has this name");
        }
        const gate::Decision decision = co_await sidecar.gate.decide(std::move(request));
        sidecar.gate.outcome_report(decision).left_to_client();
        protocol::ActionDecideResult result;
        result.by = decision.by;
        result.reason = escape_unprintable(decision.reason);
        if (decision.allowed) {
            result.decision = protocol::ClientVerdict::allow;
        } else if (decision.by == protocol::ResolvedBy::no_client && !decision.needs_confirmation) {
            result.decision = protocol::ClientVerdict::ask;
        }
        co_return result;
    }
    Task<protocol::Rule> add(protocol::PolicyAddParams params) {
        if (params.session_id) {
            sidecar.sessions.find(*params.session_id);
        }
        sidecar.registry.require_fitting(params.rule);
        protocol::Rule rule = co_await sidecar.gate.policy_add(std::move(params));
        sidecar.activity.rule_added(rule);
        co_return rule;
    }
    Task<protocol::PolicyParseResult> parse(protocol::PolicyParseParams params) {
        protocol::PolicyParseResult result;
        std::string operation;
        result.rule = tools::parse_rule(params.text, sidecar.loop.clock().wall(), &operation);
        if (!operation.empty()) {
            std::string host = *result.rule.host;
            const auto document = co_await sidecar.gate.api_document(std::move(host));
            tools::name_operation(result.rule, *document, operation);
        }
        if (result.rule.openapi) {
            result.rule.openapi =
                sidecar.workspace.resolve(sandbox::without_tilde(*result.rule.openapi, sidecar.workspace.environment));
        }
        sidecar.registry.require_fitting(result.rule);
        result.words = sidecar.gate.policy_words(result.rule);
        co_return result;
    }
    Task<Empty> remove(protocol::PolicyRemoveParams params) {
        co_await sidecar.gate.policy_remove(params.rule_id);
        sidecar.activity.rule_removed(params.rule_id);
        co_return Empty{};
    }
    Task<protocol::PolicyExplainResult> explain(protocol::PolicyExplainParams params) {
        const std::optional<Host> host = params.action.kind == protocol::ActionKind::network
                                             ? parse_host(params.action.host.value_or(""))
                                             : std::nullopt;
        protocol::PolicyExplainResult said = co_await sidecar.gate.policy_explain(std::move(params));
        co_return host ? egress::taken_by_proxy(std::move(said), *host) : std::move(said);
    }
};

} // namespace

void add_gate_handlers(SidecarServices& sidecar, Client& client) {
    const auto handlers = std::make_shared<GateMethods>(sidecar, client);
    client.peer.on_request<protocol::ApprovalRespond>(
        [handlers](protocol::ApprovalRespondParams params) { return handlers->respond(std::move(params)); });
    client.peer.on_request<protocol::ElicitationRespond>(
        [handlers](protocol::ElicitationRespondParams params) { return handlers->answer(std::move(params)); });
    client.peer.on_request<protocol::PolicyList>([handlers](Empty params) { return handlers->list_rules(params); });
    client.peer.on_request<protocol::PolicyDecisions>(
        [handlers](Empty params) { return handlers->list_decisions(params); });
    client.peer.on_request<protocol::ActionCancel>(
        [handlers](protocol::ActionCancelParams params) { return handlers->cancel(params); });
    client.peer.on_request<protocol::ActionDecide>(
        [handlers](protocol::ActionDecideParams params) { return handlers->decide(std::move(params)); });
    client.peer.on_request<protocol::PolicyAdd>(
        [handlers](protocol::PolicyAddParams params) { return handlers->add(std::move(params)); });
    client.peer.on_request<protocol::PolicyParse>(
        [handlers](protocol::PolicyParseParams params) { return handlers->parse(std::move(params)); });
    const auto history = std::make_shared<PolicyHistory>(sidecar.loop.clock(), sidecar.gate, sidecar.activity);
    client.peer.on_request<protocol::PolicyPreview>(
        [history](protocol::PolicyPreviewParams params) { return history->preview(std::move(params)); });
    client.peer.on_request<protocol::PolicySuggest>(
        [history](protocol::PolicySuggestParams params) { return history->suggest(std::move(params)); });
    client.peer.on_request<protocol::PolicyRemove>(
        [handlers](protocol::PolicyRemoveParams params) { return handlers->remove(std::move(params)); });
    client.peer.on_request<protocol::PolicyExplain>(
        [handlers](protocol::PolicyExplainParams params) { return handlers->explain(std::move(params)); });
}

} // namespace cellgate::service
