#include "tools/numbered_link.hpp"

#include <utility>

namespace cellgate::tools {

void NumberedLink::post(CarriedMessage message) {
    message.seq = ++sent_;
    unacknowledged_.push_back(message);
    message.ack = received_;
    send_(std::move(message));
}

void NumberedLink::receive(CarriedMessage message) {
    if (message.ack && *message.ack > acknowledged_ && *message.ack <= sent_) {
        acknowledged_ = *message.ack;
        while (!unacknowledged_.empty() && *unacknowledged_.front().seq <= acknowledged_) {
            unacknowledged_.pop_front();
        }
    }
    if (!message.seq) {
        return;
    }
    const bool fresh = *message.seq == received_ + 1; // one after a gap is sent again, with what it lacks
    received_ += fresh ? 1 : 0;
    CarriedMessage acknowledgement;
    acknowledgement.ack = received_;
    send_(std::move(acknowledgement));
    if (fresh) {
        deliver_(std::move(message));
    }
}

void NumberedLink::repeat() {
    for (CarriedMessage message : unacknowledged_) {
        message.ack = received_;
        send_(std::move(message));
    }
}

void NumberedLink::ask_again() {
    CarriedMessage message;
    message.ack = received_;
    message.again = true;
    send_(std::move(message));
}

std::size_t NumberedLink::unacknowledged_bytes(std::int64_t stream) const {
    std::size_t bytes = 0;
    for (const CarriedMessage& message : unacknowledged_) {
        bytes += message.stream == stream && message.bytes ? message.bytes->size() : 0;
    }
    return bytes;
}

} // namespace cellgate::tools
