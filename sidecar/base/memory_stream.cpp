#include "base/memory_stream.hpp"

#include "base/sync.hpp"

#include <deque>

namespace cellgate {

namespace {

// One direction.
struct Channel {
    std::deque<std::string> chunks;
    std::size_t bytes = 0;
    bool closed = false;
    Event readable; // set while there is something to read or the channel is closed
    Condition consumed;
};

class MemoryStream final : public ByteStream {
  public:
    MemoryStream(std::shared_ptr<Channel> in, std::shared_ptr<Channel> out)
        : in_(std::move(in)), out_(std::move(out)) {}
    ~MemoryStream() override { close(); }

    Task<std::string> read() override {
        const std::shared_ptr<Channel> in = in_;
        co_await in->readable.wait();
        std::string chunk;
        if (!in->chunks.empty()) {
            chunk = std::move(in->chunks.front());
            in->chunks.pop_front();
            in->bytes -= chunk.size();
            if (in->chunks.empty() && !in->closed) {
                in->readable.reset();
            }
        }
        in->consumed.notify();
        co_return chunk;
    }

    void write(std::string bytes) override {
        if (!out_->closed && !bytes.empty()) {
            out_->bytes += bytes.size();
            out_->chunks.push_back(std::move(bytes));
            out_->readable.set();
        }
    }

    std::size_t write_queue_size() const override { return out_->bytes; }

    Task<void> drained(std::size_t below) override {
        const std::shared_ptr<Channel> out = out_;
        const auto drained = [&out, below] { return out->bytes <= below || out->closed; };
        co_await out->consumed.until(drained);
    }

    void close() override {
        for (const std::shared_ptr<Channel>& channel : {in_, out_}) {
            channel->closed = true;
            channel->readable.set();
            channel->consumed.notify();
        }
    }

  private:
    std::shared_ptr<Channel> in_;
    std::shared_ptr<Channel> out_;
};

} // namespace

std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>> memory_stream_pair() {
    auto there = std::make_shared<Channel>();
    auto back = std::make_shared<Channel>();
    return {std::make_unique<MemoryStream>(back, there), std::make_unique<MemoryStream>(there, back)};
}

} // namespace cellgate
