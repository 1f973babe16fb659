// approval/*, policy/*: the gate's own methods, for persons.

#include "require.hpp"
#include "sidecar_impl.hpp"

namespace cellgate::service {

namespace {

struct GateMethods {
    gate::Gate& gate;

    Task<Empty> respond(protocol::ApprovalRespondParams params) {
        gate.respond(std::move(params));
        co_return Empty{};
    }
    Task<protocol::ApprovalListResult> list_approvals(Empty) { co_return gate.list(); }
    Task<protocol::PolicyListResult> list_rules(Empty) { co_return gate.policy_list(); }
    Task<protocol::Rule> add(protocol::PolicyAddParams params) { co_return gate.policy_add(std::move(params)); }
    Task<Empty> remove(protocol::PolicyRemoveParams params) {
        gate.policy_remove(params.rule_id);
        co_return Empty{};
    }
    Task<protocol::PolicyExplainResult> explain(protocol::PolicyExplainParams params) {
        const std::int64_t port = params.action.port.value_or(1);
        require(port >= 1 && port <= 65535, "params.action.port: expected 1 to 65535");
        co_return gate.policy_explain(std::move(params));
    }
};

} // namespace

void add_gate_handlers(Sidecar::Impl& sidecar, Client& client) {
    const auto handlers = std::make_shared<GateMethods>(sidecar.gate);
    client.peer.on_request<protocol::ApprovalRespond>(
        [handlers](protocol::ApprovalRespondParams params) { return handlers->respond(std::move(params)); });
    client.peer.on_request<protocol::ApprovalList>(
        [handlers](Empty params) { return handlers->list_approvals(params); });
    client.peer.on_request<protocol::PolicyList>([handlers](Empty params) { return handlers->list_rules(params); });
    client.peer.on_request<protocol::PolicyAdd>(
        [handlers](protocol::PolicyAddParams params) { return handlers->add(std::move(params)); });
    client.peer.on_request<protocol::PolicyRemove>(
        [handlers](protocol::PolicyRemoveParams params) { return handlers->remove(std::move(params)); });
    client.peer.on_request<protocol::PolicyExplain>(
        [handlers](protocol::PolicyExplainParams params) { return handlers->explain(std::move(params)); });
}

} // namespace cellgate::service
