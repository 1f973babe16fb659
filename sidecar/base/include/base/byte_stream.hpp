#pragma once
// `ByteStream` is a two-way stream of bytes: a pipe pair, a socket, or memory in tests. async/ implements it, protocol/
// frames it.

#include "base/task.hpp"

#include <cstddef>
#include <string>

namespace cellgate {

struct ByteStream {
    virtual ~ByteStream() = default;
    // The next bytes, at least one; empty at the end of the stream. One reader at a time. Throws Error on failure.
    virtual Task<std::string> read() = 0;
    // Queues `bytes`; never waits. Once the peer is gone, they are dropped (read() reports the end).
    virtual void write(std::string bytes) = 0;
    // Bytes queued that the system has not taken yet.
    virtual std::size_t write_queue_size() const = 0;
    // Waits until the queue holds no more than `below` bytes, or the stream has closed.
    virtual Task<void> drained(std::size_t below) = 0;
    // Ends both directions; a waiting read() returns the end. Queued bytes are still written if the peer reads them.
    virtual void close() = 0;
};

} // namespace cellgate
