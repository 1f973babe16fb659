#pragma once
// Output on its way to one client. A client that does not read costs no memory: past a limit of queued bytes, records
// are not sent but announced as skipped, in their place; they are in the journal (output/read).

#include "protocol/messages/executions.hpp"
#include "protocol/peer.hpp"

#include <map>
#include <string>

namespace cellgate::service {

class OutputFeed {
  public:
    explicit OutputFeed(protocol::Peer& peer) : peer_(peer) {}

    void send(const std::string& execution_id, const protocol::OutputRecord& record);
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

    Task<void> flush_when_drained();
    void announce(const std::string& execution_id, const Skipped& skipped);

    protocol::Peer& peer_;
    std::map<std::string, Skipped> skipped_;
    TaskScope tasks_;
};

} // namespace cellgate::service
