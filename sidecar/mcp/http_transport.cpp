#include "mcp/http_transport.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace cellgate::mcp {

Task<std::optional<protocol::Frame>> HttpTransport::receive() {
    const auto has_something = [this] { return closed_ || !arrived_.empty(); };
    co_await changed_.until(has_something);
    if (arrived_.empty()) {
        co_return std::nullopt;
    }
    protocol::Frame frame = std::move(arrived_.front());
    arrived_.pop_front();
    co_return frame;
}

Task<void> HttpTransport::drained(std::size_t below) {
    const auto is_drained = [this, below] { return closed_ || queued_bytes_ <= below; };
    co_await changed_.until(is_drained);
}

void HttpTransport::close() {
    closed_ = true;
    tasks_.cancel();
    changed_.notify();
}

void HttpTransport::require_sendable(const std::string& message) {
    if (message.size() > protocol::max_message_bytes) {
        throw Error(ErrorCode::limit_exceeded, fmt::format("expected a message of at most {} bytes, found {}",
                                                           protocol::max_message_bytes, message.size()));
    }
}

void HttpTransport::push(protocol::Frame frame) {
    arrived_.push_back(std::move(frame));
    changed_.notify();
}

} // namespace cellgate::mcp
