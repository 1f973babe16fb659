#pragma once
// `EventFeed` is one client's subscription to the record: a place in it, from which a task reads page after page off
// the loop and sends the entries that match. A client that does not read is waited for, and gets afterwards what it
// missed: it costs no memory, and loses only what is pruned meanwhile. What cannot be stored is not sent. Owned by the
// client's handlers; its task is one of the client's.

#include "activity_record.hpp"
#include "protocol/peer.hpp"

#include <memory>
#include <string>

namespace cellgate::service {

class EventFeed {
  public:
    // All must outlive it.
    EventFeed(ActivityRecord& activity, protocol::Peer& peer, TaskScope& tasks)
        : activity_(activity), peer_(peer), tasks_(tasks) {}

    // In place of an earlier one.
    Task<protocol::EventsSubscribeResult> subscribe(protocol::EventsSubscribeParams params);
    // Nothing is sent after this.
    void unsubscribe();

  private:
    struct Subscription {
        protocol::EventsSubscribeParams wanted;
        std::int64_t next = 0; // to be read
        bool ended = false;
        std::shared_ptr<CancelState> task;
    };

    Task<void> pump(std::shared_ptr<Subscription> subscription);
    void note_problem(const std::string& problem);

    ActivityRecord& activity_;
    protocol::Peer& peer_;
    TaskScope& tasks_;
    std::shared_ptr<Subscription> current_; // nullptr: none
    std::string problem_;                   // of reading, that was logged
};

} // namespace cellgate::service
