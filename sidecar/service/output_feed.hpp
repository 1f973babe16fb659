#pragma once
// Output on its way to one client. What a client has not read costs bounded memory: past a first limit of queued bytes
// records wait here, and adjacent ones of a stream are joined; past a second one they are not sent but announced as
// skipped, in their place, and are in the journal (output/read). The records of an execution keep their order; large
// display data is written into files off the loop, and what comes behind it waits.

#include "base/off_loop.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/peer.hpp"
#include "session/execution.hpp"

#include <deque>
#include <optional>
#include <string>

namespace cellgate::service {

class OutputFeed {
  public:
    OutputFeed(protocol::Peer& peer, OffLoop off_loop) : peer_(peer), off_loop_(std::move(off_loop)) {}

    // The client takes large display data as files.
    void use_files() { files_ = true; }
    // A larger record is not sent as it is.
    std::size_t most_inline_bytes() const;

    void send(const session::Execution& execution, const protocol::OutputRecord& record);
    // The first of an execution's records that was not sent yet, or announced; `next` when all before that were.
    std::int64_t first_unsent(const std::string& execution_id, std::int64_t next) const;
    // When everything so far of an execution was sent or announced: its reply follows.
    Task<void> settled(std::string execution_id);
    // Cancels the wait for the client to read.
    Task<void> close();

  private:
    struct Held {
        std::string execution_id;
        protocol::OutputRecord record;   // without its output
        std::string output;              // empty: skipped
        std::optional<std::string> stem; // of files for large data

        std::size_t cost() const;
    };

    void hold(const session::Execution& execution, const protocol::OutputRecord& record);
    bool join(Held& last, const protocol::OutputRecord& record);
    Held* last_of(const std::string& execution_id);
    Task<void> pump();
    Task<void> fit(std::shared_ptr<Held> held);
    void notify(const std::string& execution_id, const protocol::OutputRecord& record);

    protocol::Peer& peer_;
    OffLoop off_loop_;
    bool files_ = false;
    std::deque<Held> held_;
    std::size_t held_bytes_ = 0;
    bool skipping_ = false;
    bool pumping_ = false;
    std::string in_hand_; // the execution whose record the pump has
    std::int64_t seq_in_hand_ = 0;
    Event moved_;
    TaskScope tasks_;
};

} // namespace cellgate::service
