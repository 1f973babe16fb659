#include "protocol/connection.hpp"

namespace cellgate::protocol {

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
