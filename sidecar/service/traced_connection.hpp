#pragma once
// `TracedConnection` is a connection whose messages are also written to a file, one JSON object a line: {"time",
// "client", "direction": "in"|"out", "message"}. For debugging (`--trace FILE`) and for checks against the schemas.
// What a user typed unseen is left out.

#include "base/clock.hpp"
#include "protocol/connection.hpp"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

namespace cellgate::service {

// The file, shared by the connections of all clients.
// Whether the value of this field, in an answer to this elicitation, must not be written down.
using IsSecret = std::function<bool(const std::string& elicitation_id, const std::string& field)>;

class Trace {
  public:
    // Appends to `path`, which is made 0600. Throws Error{store_failed}.
    Trace(Clock& clock, const std::string& path, IsSecret is_secret);
    void write(std::uint64_t client, std::string_view direction, const std::string& message);

  private:
    Clock& clock_;
    IsSecret is_secret_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

class TracedConnection final : public protocol::Connection {
  public:
    TracedConnection(std::shared_ptr<protocol::Connection> connection, std::shared_ptr<Trace> trace,
                     std::uint64_t client)
        : connection_(std::move(connection)), trace_(std::move(trace)), client_(client) {}

    Task<std::optional<protocol::Frame>> receive() override;
    void send(std::string message) override;
    std::size_t queued_bytes() const override { return connection_->queued_bytes(); }
    Task<void> drained(std::size_t below) override { return connection_->drained(below); }
    void close() override { connection_->close(); }

  private:
    std::shared_ptr<protocol::Connection> connection_;
    std::shared_ptr<Trace> trace_;
    std::uint64_t client_;
};

} // namespace cellgate::service
