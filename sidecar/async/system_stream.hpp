#pragma once
// `SystemStream` is the ByteStream over descriptors: an input end and an output end, which are one object for a socket
// or a terminal. The ends stay alive until all written bytes have been taken.

#include "async/stream.hpp"

#include <memory>

namespace cellgate::async {

struct InputEnd {
    virtual ~InputEnd() = default;
    virtual Task<std::string> read() = 0;
    virtual void close_input() = 0;
};

struct OutputEnd {
    virtual ~OutputEnd() = default;
    virtual void write(std::string bytes) = 0;
    virtual std::size_t write_queue_size() const = 0;
    virtual Task<void> drained(std::size_t below) = 0;
    // Queued bytes are still written, for as long as it takes.
    virtual void close_output() = 0;
    virtual bool peer_gone() const = 0;
    virtual void abort() = 0;
    // After close_output(): drops the queue when the peer reads nothing for some seconds.
    virtual void limit_linger() = 0;
};

class SystemStream final : public ByteStream {
  public:
    SystemStream(Loop& loop, int read_fd, int write_fd);
    ~SystemStream() override { close(); }

    Task<std::string> read() override { return input_->read(); }
    void write(std::string bytes) override { output_->write(std::move(bytes)); }
    std::size_t write_queue_size() const override { return output_->write_queue_size(); }
    Task<void> drained(std::size_t below) override { return output_->drained(below); }
    void close() override;
    // The other direction stays open. Where both share one descriptor, only a socket's peer sees the end.
    void close_output() { output_->close_output(); }
    bool peer_gone() const { return output_->peer_gone(); }
    void abort() {
        close();
        output_->abort();
    }

  private:
    std::shared_ptr<InputEnd> input_;
    std::shared_ptr<OutputEnd> output_;
};

// Both take ownership of `fd`.
std::shared_ptr<InputEnd> open_file_input(Loop& loop, int fd);
std::shared_ptr<OutputEnd> open_file_output(Loop& loop, int fd);

// Closes a descriptor; a standard one is replaced by /dev/null, so that no later descriptor gets its number.
void release_descriptor(int fd);

} // namespace cellgate::async
