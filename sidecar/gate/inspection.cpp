// Which requests are judged one by one, and what rules put into them.
#include "gate_impl.hpp"
#include "request_rules.hpp"
#include "rules.hpp"

namespace cellgate::gate {

namespace {

RequestContext context_of(const Request& request) {
    return RequestContext{request.session_id, request.execution_id, request.from_code};
}

} // namespace

bool Gate::inspects(const Request& request) {
    impl_->refresh();
    const Payload payload(request.action);
    const std::vector<protocol::Rule> rules = impl_->policy.rules().request_rules(context_of(request));
    return std::any_of(rules.begin(), rules.end(),
                       [&payload](const protocol::Rule& rule) { return gate::inspects(rule, payload.names()); });
}

std::vector<protocol::Injection> Gate::injections(const Request& request) {
    impl_->refresh();
    const Payload payload(request.action);
    const bool web_socket = payload.names().method == "WEBSOCKET";
    std::vector<protocol::Injection> found;
    for (const protocol::Rule& rule : impl_->policy.rules().request_rules(context_of(request))) {
        // What a server sends over a WebSocket is not masked: a rule has to mean it.
        if (rule.inject && (!web_socket || rule.methods) && gate::inspects(rule, payload.names()) &&
            match_request(rule, payload.names()) == Match::yes) {
            found.push_back(*rule.inject);
        }
    }
    return found;
}

std::vector<protocol::Rule> Gate::request_rules(const std::optional<std::string>& session_id) {
    impl_->refresh();
    return impl_->policy.rules().request_rules(RequestContext{session_id, std::nullopt});
}

} // namespace cellgate::gate
