#pragma once
// `Connection` is a channel for whole messages, as text, both ways; `FramedConnection` is one over a ByteStream.

#include "base/byte_stream.hpp"
#include "base/task.hpp"
#include "protocol/framing.hpp"

#include <memory>
#include <optional>
#include <string>

namespace cellgate::protocol {

struct Connection {
    virtual ~Connection() = default;
    // The next message or what is wrong with it; nothing at the end. One receiver at a time.
    virtual Task<std::optional<Frame>> receive() = 0;
    // Queues; never waits. Throws Error{limit_exceeded} for a message that is too large for the other side to take, or
    // for what is queued already; then nothing of it was sent.
    virtual void send(std::string message) = 0;
    // Bytes queued that the other side has not taken.
    virtual std::size_t queued_bytes() const = 0;
    virtual Task<void> drained(std::size_t below) = 0;
    virtual void close() = 0;
};

class FramedConnection final : public Connection {
  public:
    // `max_bytes`: of one message that arrives.
    FramedConnection(std::unique_ptr<ByteStream> stream, Framing framing, std::size_t max_bytes = max_message_bytes)
        : stream_(std::move(stream)), framing_(framing), decoder_(framing, max_bytes) {}

    Task<std::optional<Frame>> receive() override;
    // At most max_message_bytes, which is what every reader takes.
    void send(std::string message) override;
    std::size_t queued_bytes() const override { return stream_->write_queue_size(); }
    Task<void> drained(std::size_t below) override { return stream_->drained(below); }
    void close() override { stream_->close(); }

  private:
    std::unique_ptr<ByteStream> stream_;
    Framing framing_;
    Decoder decoder_;
    bool ended_ = false;
};

} // namespace cellgate::protocol
