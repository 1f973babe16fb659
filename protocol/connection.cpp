#include "protocol/connection.hpp"

#include <fmt/format.h>

namespace cellgate::protocol {

void FramedConnection::send(std::string message) {
    if (message.size() > max_message_bytes) {
        throw Error(ErrorCode::limit_exceeded, fmt::format("expected a message of at most {} bytes to send, found {}",
                                                           max_message_bytes, message.size()));
    }
    stream_->write(frame_start(framing_, message.size()));
    message += frame_end(framing_);
    stream_->write(std::move(message));
}

Task<std::optional<Frame>> FramedConnection::receive() {
    while (true) {
        if (std::optional<Frame> frame = decoder_.next()) {
            ended_ = ended_ || frame->fatal;
            co_return frame;
        }
        if (ended_) {
            co_return std::nullopt;
        }
        const std::string bytes = co_await stream_->read();
        if (!bytes.empty()) {
            decoder_.feed(bytes);
            continue;
        }
        ended_ = true;
        if (decoder_.in_message()) {
            co_return Frame{{}, "expected the rest of a message, found the end of the stream", true};
        }
    }
}

} // namespace cellgate::protocol
