#pragma once
// `Pending` and `PendingQuery` are the requests of a KernelClient whose ends are awaited, by their msg_id.

#include "base/task.hpp"
#include "jupyter/kernel_client.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace cellgate::jupyter {

// An execution whose end is awaited. The end has two halves, the reply on shell and the idle on iopub.
struct Pending {
    std::optional<ExecuteReply> reply;
    bool idle = false;
    bool counts = true;                     // among the kernel's executions
    std::optional<KernelError> shown_error; // from iopub
    std::string probe;                      // msg_id of a later request: messages that it overtakes are lost
    bool was_cut = false;                   // from the kernel, since it was sent
    bool heard = false;                     // the kernel has begun with it
    bool is_lost = false;                   // it or its reply, in a cut
    Event changed;
};

// A query, until the kernel has replied or, after a failure, is idle again.
struct PendingQuery {
    KernelQuery query;
    std::optional<std::string> reply;
    bool idle = false;
    bool awaited = true;
    bool was_cut = false; // it, its reply or neither may have arrived
    Event changed;        // or the kernel is gone

    // The reply comes on another socket than the idle; over a cut connection it is asked for again.
    bool lacks_reply() const { return idle && !was_cut; }
};
using PendingQueries = std::map<std::string, std::shared_ptr<PendingQuery>>;

// The caller that waits for a query.
struct QueryWaiter {
    PendingQueries& queries;
    std::string msg_id;
    ~QueryWaiter() {
        const auto found = queries.find(msg_id);
        if (found != queries.end()) {
            found->second->awaited = false;
            if (found->second->idle) {
                queries.erase(found);
            }
        }
    }
};

using Pendings = std::map<std::string, std::shared_ptr<Pending>>;

struct Registration {
    Pendings& pendings;
    const std::string& msg_id;
    ~Registration() { pendings.erase(msg_id); }
};

} // namespace cellgate::jupyter
