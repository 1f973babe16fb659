#pragma once
// Output on its way to one client. A client that does not read costs no memory: past a limit of queued bytes, records
// are not sent but announced as skipped, in their place; they are in the journal (output/read).

#include "protocol/messages/executions.hpp"
#include "protocol/peer.hpp"
#include "session/execution.hpp"

#include <map>
#include <string>

namespace cellgate::service {

class OutputFeed {
  public:
    explicit OutputFeed(protocol::Peer& peer) : peer_(peer) {}

    // The client takes large display data as files, in this directory of ours.
    void use_files_in(std::string directory) { directory_ = std::move(directory); }
    // The record as this client takes it.
    protocol::OutputRecord for_client(const session::Execution& execution, protocol::OutputRecord record) const;

    void send(const session::Execution& execution, const protocol::OutputRecord& record);
    // Announces what was skipped of an execution: its reply follows.
    void flush(const std::string& execution_id);
    // Cancels the wait for the client to read.
    Task<void> close();

  private:
    struct Skipped {
        std::int64_t seq = 0;
        std::int64_t count = 0;
        std::uint64_t bytes = 0;
        std::optional<bool> late;
    };

    void skip(const std::string& execution_id, const protocol::OutputRecord& record);
    Task<void> flush_when_drained();
    void announce(const std::string& execution_id, const Skipped& skipped);

    protocol::Peer& peer_;
    std::string directory_; // empty: everything goes into the message
    std::map<std::string, Skipped> skipped_;
    bool waiting_ = false; // for the client to read
    TaskScope tasks_;
};

} // namespace cellgate::service
