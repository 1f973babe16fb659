// Which requests are judged one by one, and what rules put into them.
#include "base/host.hpp"
#include "gate_impl.hpp"
#include "request_rules.hpp"
#include "rules.hpp"
#include "visible_name.hpp"

#include <fmt/format.h>

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

Task<void> Gate::Impl::describe_operation(std::shared_ptr<Impl> self, PendingRequestPtr entry) {
    const Payload::Names& names = entry->payload.names();
    if (names.kind != ActionKind::request) {
        co_return;
    }
    for (const Rule& rule : self->policy.rules().request_rules(entry->context())) {
        if (!rule.openapi || !gate::inspects(rule, names)) {
            continue;
        }
        try {
            std::string path = *rule.openapi;
            const std::shared_ptr<const ApiDocument> document = co_await self->documents.read(std::move(path));
            if (std::optional<ApiDocument::Match> found = document->find(*names.method, *names.path)) {
                entry->operation = DescribedOperation{document, std::move(*found)};
                entry->operation_problem.reset();
                co_return;
            }
            entry->operation_problem = "the OpenAPI document of this host has no such operation";
        } catch (const Error& error) {
            entry->operation_problem = error.message;
        }
    }
}

Task<std::shared_ptr<const ApiDocument>> Gate::api_document(std::string host) {
    impl_->refresh();
    const std::optional<Endpoint> endpoint = parse_endpoint(host, 443);
    HttpRequest request;
    request.host = endpoint ? endpoint->host.name : host;
    request.port = endpoint ? std::optional<std::int64_t>(endpoint->port) : std::nullopt;
    const Action action = request;
    const Payload payload(action);
    for (const Rule& rule : impl_->policy.rules().request_rules(RequestContext{})) {
        if (rule.openapi && (rule.host == host || gate::inspects(rule, payload.names()))) {
            std::string path = *rule.openapi;
            co_return co_await impl_->documents.read(std::move(path));
        }
    }
    throw Error(ErrorCode::rule_invalid, fmt::format("no OpenAPI document is named for {}", visible_name(host)),
                fmt::format("First: cellgate policy add 'inspect request {}' --openapi FILE", visible_name(host)));
}

std::vector<protocol::Rule> Gate::request_rules(const std::optional<std::string>& session_id) {
    impl_->refresh();
    return impl_->policy.rules().request_rules(RequestContext{session_id, std::nullopt});
}

} // namespace cellgate::gate
