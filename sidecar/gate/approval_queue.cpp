#include "approval_queue.hpp"

#include "visible_name.hpp"

#include <fmt/format.h>

namespace cellgate::gate {

void ApprovalQueue::add(const PendingRequestPtr& entry) {
    std::list<PendingRequestPtr>& waiting = sessions_[entry->queue()].waiting;
    entry->position = waiting.insert(waiting.end(), entry);
}

PendingRequestPtr ApprovalQueue::next(const std::string& queue) const {
    const auto found = sessions_.find(queue);
    if (found == sessions_.end() || found->second.waiting.empty() ||
        found->second.shown >= Gate::max_pending_per_session) {
        return nullptr;
    }
    return found->second.waiting.front();
}

bool ApprovalQueue::has_room_for(const PendingRequest& entry) const {
    const Session& session = sessions_.at(entry.queue());
    return session.shown == 0 || session.shown_bytes + entry.bytes <= Gate::max_pending_bytes_per_session;
}

void ApprovalQueue::show(const PendingRequestPtr& entry) {
    Session& session = sessions_.at(entry->queue());
    session.waiting.erase(entry->position);
    ++session.shown;
    session.shown_bytes += entry->bytes;
    entry->shown = true;
    entry->position = shown_.insert(shown_.end(), entry);
    by_id_.emplace(entry->approval.approval_id, entry);
}

void ApprovalQueue::remove(const PendingRequestPtr& entry) {
    const auto found = sessions_.find(entry->queue());
    Session& session = found->second;
    if (entry->shown) {
        shown_.erase(entry->position);
        by_id_.erase(entry->approval.approval_id);
        --session.shown;
        session.shown_bytes -= entry->bytes;
        remember(entry->approval.approval_id);
    } else {
        session.waiting.erase(entry->position);
    }
    if (session.shown == 0 && session.waiting.empty()) {
        sessions_.erase(found);
    }
}

void ApprovalQueue::remember(const std::string& id) {
    constexpr std::size_t max_remembered = 10'000;
    resolved_.insert(id);
    resolved_order_.push_back(id);
    if (resolved_order_.size() > max_remembered) {
        resolved_.erase(resolved_order_.front());
        resolved_order_.pop_front();
    }
}

std::vector<PendingRequestPtr> ApprovalQueue::all() const {
    std::vector<PendingRequestPtr> found;
    for (const auto& [name, session] : sessions_) {
        found.insert(found.end(), session.waiting.begin(), session.waiting.end());
    }
    found.insert(found.end(), shown_.begin(), shown_.end());
    return found;
}

std::vector<PendingRequestPtr> ApprovalQueue::find(const std::vector<std::string>& ids) const {
    std::vector<PendingRequestPtr> found;
    std::unordered_set<std::string> seen;
    for (const std::string& id : ids) {
        if (!seen.insert(id).second) {
            throw Error(ErrorCode::invalid_params, fmt::format("expected every id once, found {} twice",
                                                               in_quotes(std::string_view(id).substr(0, 64))));
        }
        if (resolved_.contains(id)) {
            throw Error(ErrorCode::approval_resolved,
                        fmt::format("approval {} was decided already; nothing was answered", id));
        }
        const auto entry = by_id_.find(id);
        if (entry == by_id_.end()) {
            throw Error(ErrorCode::approval_not_found,
                        fmt::format("expected the id of a pending approval, found {}; nothing was answered",
                                    in_quotes(std::string_view(id).substr(0, 64))));
        }
        found.push_back(entry->second);
    }
    if (found.empty()) {
        throw Error(ErrorCode::invalid_params, "params.approvalIds: expected at least one id, found none");
    }
    return found;
}

} // namespace cellgate::gate
