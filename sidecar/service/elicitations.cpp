#include "elicitations.hpp"

#include "base/encoding.hpp"
#include "base/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cellgate::service {

struct Elicitations::Waiting {
    protocol::Elicitation question;
    tools::ValuesCheck check;
    tools::ElicitationReply reply;
    Event resolved;
};

void Elicitations::attach(ElicitationClient& client) {
    clients_.push_back(&client);
    if (const std::shared_ptr<CancelState> linger = std::exchange(linger_, nullptr)) {
        linger->cancel();
    }
    for (const WaitingPtr& waiting : waiting_) {
        client.on_elicitation_requested(waiting->question);
    }
}

void Elicitations::detach(ElicitationClient& client, Duration linger) {
    if (std::erase(clients_, &client) == 0 || !clients_.empty()) {
        return;
    }
    if (linger > Duration::zero()) {
        linger_ = tasks_.spawn(cancel_after(linger));
    } else {
        cancel_all();
    }
}

Task<void> Elicitations::cancel_after(Duration linger) {
    co_await sleep_for(clock_, linger);
    linger_ = nullptr;
    cancel_all();
}

void Elicitations::cancel_all() {
    const std::list<WaitingPtr> all = waiting_;
    for (const WaitingPtr& waiting : all) {
        resolve(waiting, {}, protocol::ResolvedBy::cancelled);
    }
}

Task<tools::ElicitationReply> Elicitations::elicit(protocol::Elicitation question, tools::ValuesCheck check) {
    const auto waiting = std::make_shared<Waiting>();
    waiting->question = std::move(question);
    waiting->question.elicitation_id = random_id();
    waiting->question.created_at = to_rfc3339(clock_.wall());
    waiting->check = std::move(check);
    waiting_.push_back(waiting);
    if (waiting->question.execution_id) {
        gate_.question_began(*waiting->question.execution_id);
    }
    const std::vector<ElicitationClient*> now = clients_;
    for (ElicitationClient* client : now) {
        client->on_elicitation_requested(waiting->question);
    }
    std::exception_ptr cancelled;
    try {
        co_await waiting->resolved.wait();
    } catch (const Cancelled&) {
        cancelled = std::current_exception();
    }
    if (cancelled) {
        resolve(waiting, {}, protocol::ResolvedBy::cancelled);
        std::rethrow_exception(cancelled);
    }
    co_return waiting->reply;
}

void Elicitations::resolve(const WaitingPtr& waiting, tools::ElicitationReply reply, protocol::ResolvedBy by) {
    if (waiting->resolved.is_set()) {
        return;
    }
    waiting_.remove(waiting);
    waiting->reply = std::move(reply);
    if (waiting->question.execution_id) {
        gate_.question_ended(*waiting->question.execution_id);
    }
    protocol::ElicitationResolvedParams params;
    params.elicitation_id = waiting->question.elicitation_id;
    params.action = waiting->reply.action;
    params.by = by;
    const std::vector<ElicitationClient*> now = clients_;
    for (ElicitationClient* client : now) {
        client->on_elicitation_resolved(params);
    }
    waiting->resolved.set();
}

Elicitations::WaitingPtr Elicitations::find(const std::string& elicitation_id) const {
    const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const WaitingPtr& each) {
        return each->question.elicitation_id == elicitation_id;
    });
    return found == waiting_.end() ? nullptr : *found;
}

bool Elicitations::is_secret(const std::string& elicitation_id, const std::string& field) const {
    const WaitingPtr waiting = find(elicitation_id);
    if (!waiting || !waiting->question.fields) {
        return true; // what it was is not known any more
    }
    const std::vector<protocol::ElicitationField>& fields = *waiting->question.fields;
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& each) { return each.name == field; });
    return found == fields.end() || found->secret.value_or(false);
}

void Elicitations::respond(const protocol::ElicitationRespondParams& params) {
    const WaitingPtr waiting = find(params.elicitation_id);
    if (!waiting) {
        throw Error(ErrorCode::elicitation_not_found,
                    fmt::format("no elicitation \"{}\" waits", params.elicitation_id.substr(0, 64)),
                    "It was answered, or its call has ended.");
    }
    tools::ElicitationReply reply;
    reply.action = params.action;
    if (params.action == protocol::ElicitationAction::accept) {
        reply.content = waiting->check(params.values);
    }
    resolve(waiting, std::move(reply), protocol::ResolvedBy::user);
}

Task<void> Elicitations::close() {
    cancel_all();
    tasks_.cancel();
    co_await tasks_.join();
}

} // namespace cellgate::service
