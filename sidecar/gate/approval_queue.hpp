#pragma once
// `ApprovalQueue` is the requests that wait for a user: those of each session that wait for their turn, in order, and
// those that are shown as approvals, of which each session has a bounded number. It decides nothing and notifies no
// client. Private to the gate.

#include "gate/gate.hpp"
#include "paths.hpp"
#include "payload.hpp"
#include "rule_book.hpp"

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace cellgate::gate {

// A call that waits: in its session's queue, and then, as an approval with an id, for a user.
// The operation of a request. The document has its texts.
struct DescribedOperation {
    std::shared_ptr<const ApiDocument> document;
    ApiDocument::Match found;
};

struct PendingRequest {
    explicit PendingRequest(Request asked) : request(std::move(asked)), payload(request.action) {}
    PendingRequest(const PendingRequest&) = delete;
    PendingRequest& operator=(const PendingRequest&) = delete;

    RequestContext context() const {
        return RequestContext{request.session_id, request.execution_id, request.from_code,
                              request.agent ? Grantee(request.agent->client) : std::nullopt,
                              request.needs_explicit_host_rule.has_value()};
    }
    // The name of its queue: the session; "" without one.
    const std::string& queue() const {
        static const std::string no_session;
        return request.session_id ? *request.session_id : no_session;
    }

    Request request;
    Payload payload;
    protocol::Approval approval;
    std::size_t bytes = 0;                        // of the approval in a message; known when its turn has come
    std::vector<std::string> failed_tests;        // of rules, in words
    std::optional<DescribedOperation> operation;  // of a request, as an OpenAPI document describes it
    std::optional<std::string> operation_problem; // why nothing is known of it
    bool shown = false;
    bool announced = false;            // its notification was sent
    std::optional<PathSnapshot> paths; // while it is judged
    bool resolving = false;            // its paths are being resolved, or a use of a rule is taken, off the loop
    std::shared_ptr<Event> answered;   // while an answer is being checked and stored: others wait for it
    std::list<std::shared_ptr<PendingRequest>>::iterator position; // in the ApprovalQueue
    std::shared_ptr<CancelState> elicitation;
    std::optional<Decision> decision;
    Event settled;
};
using PendingRequestPtr = std::shared_ptr<PendingRequest>;

class ApprovalQueue {
  public:
    void add(const PendingRequestPtr& entry);
    // The next request of a session, unless as many as allowed are shown; nothing when none waits.
    PendingRequestPtr next(const std::string& queue) const;
    // Whether the approval fits beside those of its session that are shown.
    bool has_room_for(const PendingRequest& entry) const;
    // Moves a waiting request to the approvals. It has its id by now.
    void show(const PendingRequestPtr& entry);
    // Removes a settled request. The id of an approval is remembered.
    void remove(const PendingRequestPtr& entry);

    // Oldest first.
    const std::list<PendingRequestPtr>& shown() const { return shown_; }
    // The waiting ones of each session, and then those that are shown.
    std::vector<PendingRequestPtr> all() const;
    // The approvals with these ids. Throws Error: approval_resolved, approval_not_found, invalid_params.
    std::vector<PendingRequestPtr> find(const std::vector<std::string>& ids) const;

  private:
    struct Session {
        std::size_t shown = 0;
        std::size_t shown_bytes = 0;
        std::list<PendingRequestPtr> waiting;
    };
    void remember(const std::string& id);

    std::map<std::string, Session> sessions_; // with requests
    std::list<PendingRequestPtr> shown_;
    std::unordered_map<std::string, PendingRequestPtr> by_id_;
    // Ids that were resolved: an answer to one is late, an answer to any other unknown id is wrong.
    std::unordered_set<std::string> resolved_;
    std::deque<std::string> resolved_order_;
};

} // namespace cellgate::gate
