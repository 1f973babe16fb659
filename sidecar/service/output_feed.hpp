#pragma once
// `OutputFeed` is the queue of output to one client. A client that does not read costs bounded memory: past a first
// limit of queued bytes, records wait in the backlog and adjacent ones of a stream are joined; past a second one they
// are not sent but announced as skipped, in order, and stay in the journal (output/read). The records of an execution
// keep their order; large display data is written to files on the thread pool, and later records wait for it.

#include "base/run_blocking.hpp"
#include "base/sync.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/peer.hpp"
#include "session/execution.hpp"

#include <deque>
#include <optional>
#include <string>

namespace cellgate::service {

class OutputFeed {
  public:
    OutputFeed(protocol::Peer& peer, RunBlocking run_blocking) : peer_(peer), run_blocking_(std::move(run_blocking)) {}

    // The client accepts large display data as files.
    void use_files() { files_ = true; }
    // A larger record is not sent inline.
    std::size_t inline_limit() const;

    void send(const session::Execution& execution, const protocol::OutputRecord& record);
    // Sends at once a record that was read again, and fits. No other of its execution may wait.
    void notify(const std::string& execution_id, const protocol::OutputRecord& record);
    // The first record of an execution that was neither sent nor announced; `next` if there is none before that.
    std::int64_t first_unsent(const std::string& execution_id, std::int64_t next) const;
    // Returns when all records so far of an execution were sent or announced: its reply follows.
    Task<void> flushed(std::string execution_id);
    // Cancels the wait for the client to read. What waits is not sent.
    Task<void> close();

  private:
    struct QueuedRecord {
        std::string execution_id;
        protocol::OutputRecord record;   // without its output
        std::string output;              // empty: skipped
        std::optional<std::string> stem; // of files for large data

        std::size_t cost() const;
    };

    void enqueue(const session::Execution& execution, const protocol::OutputRecord& record);
    bool join(QueuedRecord& last, const protocol::OutputRecord& record);
    QueuedRecord* last_of(const std::string& execution_id);
    Task<void> pump();
    Task<void> fit(std::shared_ptr<QueuedRecord> queued);

    protocol::Peer& peer_;
    RunBlocking run_blocking_;
    bool files_ = false;
    std::deque<QueuedRecord> backlog_;
    std::size_t backlog_bytes_ = 0;
    bool skipping_ = false;
    bool pumping_ = false;
    std::optional<std::string> in_flight_; // the execution whose record pump() is sending
    std::int64_t seq_in_flight_ = 0;
    Condition sent_;
    TaskScope tasks_;
};

} // namespace cellgate::service
