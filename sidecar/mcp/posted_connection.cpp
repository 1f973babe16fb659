#include "mcp/posted_connection.hpp"

#include "base/json_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cellgate::mcp {

namespace {

constexpr std::size_t max_waiting_bytes = std::size_t{4} << 20; // of a stream, beside the answer

constexpr std::string_view cancelled_method = "notifications/cancelled";

std::string cancellation(const std::string& id) {
    const RawJson params = RawJson::checked(fmt::format(R"({{"requestId":{}}})", id));
    return protocol::notification_text(cancelled_method, params);
}

} // namespace

// ---- From the client ------------------------------------------------------------------------------------------------

std::shared_ptr<PostedConnection::Stream> PostedConnection::post_request(const protocol::Message& request) {
    const auto stream = std::make_shared<Stream>();
    stream->id = std::to_string(next_id_++);
    stream->posted_id = request.id;
    if (closed_) {
        stream->ended = true;
        return stream;
    }
    streams_[stream->id] = stream;
    push(protocol::request_text(RawJson::checked(stream->id), request.method, request.payload), stream->id);
    return stream;
}

void PostedConnection::post(const protocol::Message& message, std::string text) {
    if (message.method != cancelled_method) {
        asked_.erase(message.id.text());
        push(std::move(text));
        return;
    }
    const std::string_view posted_id = json_member(message.payload.text(), "requestId");
    const auto found = std::find_if(streams_.begin(), streams_.end(), [posted_id](const auto& each) {
        return each.second->posted_id.text() == posted_id;
    });
    if (found != streams_.end()) {
        const std::shared_ptr<Stream> stream = found->second;
        drop(stream, true);
    }
}

std::optional<std::string> PostedConnection::take(Stream& stream) {
    if (stream.messages.empty()) {
        return std::nullopt;
    }
    std::string message = std::move(stream.messages.front());
    stream.messages.pop_front();
    stream.bytes -= message.size();
    queued_bytes_ -= message.size();
    changed_.notify();
    return message;
}

void PostedConnection::drop(const std::shared_ptr<Stream>& stream, bool cancel) {
    if (cancel && !stream->ended) {
        push(cancellation(stream->id));
    }
    while (take(*stream)) {
    }
    end(stream);
}

void PostedConnection::push(std::string text, std::string beside) {
    protocol::Frame frame;
    frame.text = std::move(text);
    frame.beside = std::move(beside);
    arrived_.push_back(std::move(frame));
    changed_.notify();
}

Task<std::optional<protocol::Frame>> PostedConnection::receive() {
    const auto has_something = [this] { return closed_ || !arrived_.empty(); };
    co_await changed_.until(has_something);
    if (arrived_.empty()) {
        co_return std::nullopt;
    }
    protocol::Frame frame = std::move(arrived_.front());
    arrived_.pop_front();
    co_return frame;
}

// ---- From the server ------------------------------------------------------------------------------------------------

std::shared_ptr<PostedConnection::Stream> PostedConnection::find(const std::string& id) const {
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : found->second;
}

void PostedConnection::send(std::string message) {
    if (message.size() > protocol::max_message_bytes) {
        throw Error(ErrorCode::limit_exceeded, fmt::format("expected a message of at most {} bytes, found {}",
                                                           protocol::max_message_bytes, message.size()));
    }
    const std::string id(json_member(message, "id"));
    if (const std::optional<std::string> method = json_member_text(message, "method")) {
        send_within_call(*method, id, std::move(message));
    } else {
        send_answer(id, message);
    }
}

void PostedConnection::send_answer(const std::string& id, const std::string& message) {
    const std::shared_ptr<Stream> stream = find(id);
    if (!stream) {
        return; // its client is gone
    }
    const std::string_view result = json_member(message, "result");
    const std::string_view outcome = result.empty() ? json_member(message, "error") : result;
    push_to(*stream, fmt::format(R"({{"jsonrpc":"2.0","id":{},"{}":{}}})", stream->posted_id.text(),
                                 result.empty() ? "error" : "result", outcome));
    end(stream);
}

void PostedConnection::send_within_call(const std::string& method, const std::string& id, std::string message) {
    std::string call = std::exchange(next_, {});
    if (method == cancelled_method) { // of a question
        const auto asked = asked_.find(std::string(json_member(json_member(message, "params"), "requestId")));
        if (asked != asked_.end()) {
            call = asked->second;
            asked_.erase(asked);
        }
    }
    const std::shared_ptr<Stream> stream = find(call);
    if (stream && stream->bytes + message.size() > max_waiting_bytes) {
        throw Error(ErrorCode::limit_exceeded, "the client does not take the messages of its request");
    }
    if (stream) {
        push_to(*stream, std::move(message));
        if (!id.empty()) {
            asked_[id] = call;
        }
    } else if (!id.empty()) {
        const Error gone(ErrorCode::internal_error, "the client no longer takes the messages of its request");
        push(protocol::error_text(RawJson::checked(id), gone));
    }
}

void PostedConnection::push_to(Stream& stream, std::string text) {
    stream.bytes += text.size();
    queued_bytes_ += text.size();
    stream.messages.push_back(std::move(text));
    stream.changed.notify();
}

void PostedConnection::end(const std::shared_ptr<Stream>& stream) {
    streams_.erase(stream->id);
    stream->ended = true;
    stream->changed.notify();
}

Task<void> PostedConnection::drained(std::size_t below) {
    const auto is_drained = [this, below] { return closed_ || queued_bytes_ <= below; };
    co_await changed_.until(is_drained);
}

void PostedConnection::close() {
    closed_ = true;
    while (!streams_.empty()) {
        const std::shared_ptr<Stream> stream = streams_.begin()->second;
        end(stream);
    }
    changed_.notify();
}

} // namespace cellgate::mcp
