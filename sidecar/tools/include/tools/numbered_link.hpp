#pragma once
// `NumberedLink` is one side of a conversation over a carrier that may lose, repeat and reorder messages: each message
// arrives once, in the order in which it was sent. Each side numbers its messages, keeps what is not acknowledged to
// send it again, and drops what it has seen. kernel/comm_channel.py has the other side. It does no input or output.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

namespace cellgate::tools {

// One message as it is carried; `bytes` are in base64.
struct CarriedMessage {
    std::optional<std::int64_t> seq; // none: it only acknowledges
    std::optional<std::int64_t> ack; // all up to this one have arrived
    std::optional<std::int64_t> stream;
    std::optional<std::string> bytes;
    std::optional<bool> end;   // of the stream
    std::optional<bool> again; // the kernel is to send again what is not acknowledged

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("seq", self.seq);
        visit("ack", self.ack);
        visit("stream", self.stream);
        visit("bytes", self.bytes);
        visit("end", self.end);
        visit("again", self.again);
    }
};

class NumberedLink {
  public:
    using Take = std::function<void(CarriedMessage message)>;

    // `send` carries a message to the other side; `deliver` gets each of the other side's.
    NumberedLink(Take send, Take deliver) : send_(std::move(send)), deliver_(std::move(deliver)) {}

    void post(CarriedMessage message);
    void receive(CarriedMessage message);
    // Sends again what is not acknowledged.
    void repeat();
    // Asks the kernel's side for that. It acknowledges what it has, in any case.
    void ask_again();
    std::size_t unacknowledged() const { return unacknowledged_.size(); }
    // Bytes of a stream that are not acknowledged.
    std::size_t unacknowledged_bytes(std::int64_t stream) const;
    // Rises with each acknowledgement.
    std::int64_t acknowledged() const { return acknowledged_; }

  private:
    Take send_;
    Take deliver_;
    std::deque<CarriedMessage> unacknowledged_;
    std::int64_t sent_ = 0;
    std::int64_t acknowledged_ = 0;
    std::int64_t received_ = 0;
};

} // namespace cellgate::tools
