// record/*, events/*.

#include "event_feed.hpp"
#include "handlers.hpp"

#include <fmt/format.h>

namespace cellgate::service {

namespace {

struct RecordMethods {
    SidecarServices& sidecar;
    Client& client;
    EventFeed feed{sidecar.activity, client.peer, client.tasks};

    Task<protocol::RecordQueryResult> query(protocol::RecordQueryParams params) {
        if (client.role != protocol::Role::user) {
            if (!params.execution_id) {
                client.refuse("an agent can read the record of its own executions: name one of them");
            }
            require_own_execution(sidecar, client, *params.execution_id);
            co_return co_await sidecar.activity.query_newest(std::move(params));
        }
        co_return co_await sidecar.activity.query(std::move(params));
    }

    Task<Empty> unsubscribe() {
        feed.unsubscribe();
        co_return Empty{};
    }
};

} // namespace

void require_own_execution(SidecarServices& sidecar, const Client& client, const std::string& execution_id) {
    const std::optional<SessionTable::Found> found = sidecar.sessions.try_find_execution(execution_id);
    if (!found || found->second->client != client.id) {
        client.refuse(fmt::format("the execution \"{}\" is none of this agent's", execution_id));
    }
    sidecar.review.require_shown(*found->second, *client.agent);
}

void add_record_handlers(SidecarServices& sidecar, Client& client) {
    const auto handlers = std::make_shared<RecordMethods>(sidecar, client);
    client.peer.on_request<protocol::RecordQuery>(
        [handlers](protocol::RecordQueryParams params) { return handlers->query(std::move(params)); });
    client.peer.on_request<protocol::RecordVerify>([handlers](protocol::RecordVerifyParams params) {
        return handlers->sidecar.activity.verify(std::move(params));
    });
    client.peer.on_request<protocol::EventsSubscribe>(
        [handlers](protocol::EventsSubscribeParams params) { return handlers->feed.subscribe(std::move(params)); });
    client.peer.on_request<protocol::EventsUnsubscribe>([handlers](Empty) { return handlers->unsubscribe(); });
}

} // namespace cellgate::service
