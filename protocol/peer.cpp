#include "protocol/peer.hpp"

#include "base/escape_unprintable.hpp"
#include "base/log.hpp"

#include <fmt/format.h>

namespace cellgate::protocol {

namespace {

// More requests at once than any honest client has; the next ones are refused, not queued.
constexpr std::size_t max_incoming = 65536;

// Names and ids that came from outside, in what is said and logged about them.
std::string shown(std::string_view text) {
    constexpr std::size_t longest = 100;
    const std::string start = escape_unprintable(text.substr(0, longest));
    return text.size() > longest ? fmt::format("{}… ({} bytes)", start, text.size()) : start;
}

std::string_view cancel_method(Dialect dialect) {
    return dialect == Dialect::editor ? "$/cancelRequest" : "notifications/cancelled";
}

std::string_view cancel_id_field(Dialect dialect) {
    return dialect == Dialect::editor ? "id" : "requestId";
}

} // namespace

Peer::Peer(std::shared_ptr<Connection> connection, Dialect dialect)
    : connection_(std::move(connection)), dialect_(dialect) {
    notification_handlers_[std::string(cancel_method(dialect_))] = [this](RawJson params) {
        const std::string_view id = json_member(params.text(), cancel_id_field(dialect_));
        if (!id.empty()) {
            cancel_incoming(RawJson::checked(std::string(id)));
        }
    };
}

Task<RawJson> Peer::call_raw(std::string method, RawJson params, std::string* sent_as) {
    if (closed_) {
        throw Error(ErrorCode::internal_error, fmt::format("cannot call {}: the connection has ended", method));
    }
    const RawJson id = RawJson::of(next_id_++);
    if (sent_as != nullptr) {
        *sent_as = id.text();
    }
    auto reply = std::make_shared<Deferred<RawJson>>();
    connection_->send(request_text(id, method, params));
    outgoing_[id.text()] = reply;
    try {
        co_return co_await reply->get();
    } catch (const Cancelled&) {
        outgoing_.erase(id.text());
        std::string cancel = fmt::format(R"({{"{}":{}}})", cancel_id_field(dialect_), id.text());
        notify_raw(cancel_method(dialect_), RawJson::checked(std::move(cancel)));
        throw;
    }
}

void Peer::notify_raw(std::string_view method, const RawJson& params) {
    send_notification(method, notification_text(method, params));
}

void Peer::send_notification(std::string_view method, std::string text) {
    if (closed_) {
        return;
    }
    try {
        connection_->send(std::move(text));
    } catch (const Error& error) {
        log_error("a {} notification was dropped: {}", method, error.message);
    }
}

void Peer::answer_with_error(const RawJson& id, const Error& why) {
    const bool nameless = id.is_null() && dialect_ == Dialect::mcp;
    answer_with_error(nameless ? error_text_without_id(why) : error_text(id, why));
}

void Peer::answer_with_error(std::string message) {
    try {
        connection_->send(std::move(message));
    } catch (const Error& error) {
        log_warning("a connection is closed, since not even an error could be sent: {}", error.message);
        connection_->close();
    }
}

Task<void> Peer::run() {
    std::exception_ptr error;
    try {
        while (std::optional<Frame> frame = co_await connection_->receive()) {
            receive(*frame);
        }
    } catch (const Error&) {
        error = std::current_exception();
    }
    closed_ = true;
    connection_->close();
    for (auto& [id, reply] : std::exchange(outgoing_, {})) {
        reply->reject(
            std::make_exception_ptr(Error(ErrorCode::internal_error, "the connection ended before the answer came")));
    }
    tasks_.cancel();
    co_await shielded(tasks_.join());
    if (error) {
        std::rethrow_exception(error);
    }
}

void Peer::receive(const Frame& frame) {
    if (frame.failed) {
        fail_call(frame.text, frame.failed);
        return;
    }
    try {
        if (!frame.problem.empty()) {
            throw InvalidMessage(ErrorCode::parse_error, frame.problem, RawJson());
        }
        Message message = parse_message(frame.text);
        message.beside = frame.beside;
        dispatch(std::move(message));
    } catch (const InvalidMessage& invalid) {
        if (on_invalid_) {
            on_invalid_(frame, invalid);
        } else {
            answer_with_error(invalid.id, invalid);
        }
    }
}

void Peer::fail_call(const std::string& id, std::exception_ptr why) {
    const auto entry = outgoing_.find(id);
    if (entry != outgoing_.end()) {
        const std::shared_ptr<Deferred<RawJson>> reply = entry->second;
        outgoing_.erase(entry);
        reply->reject(std::move(why));
    }
}

void Peer::dispatch(Message message) {
    switch (message.kind) {
    case Message::Kind::result:
    case Message::Kind::error:
        on_answer(std::move(message));
        return;
    case Message::Kind::notification:
        on_notification(std::move(message));
        return;
    case Message::Kind::request:
        on_request(std::move(message));
        return;
    }
}

void Peer::on_answer(Message message) {
    const auto entry = outgoing_.find(message.id.text());
    if (entry == outgoing_.end()) {
        log_info("an answer to no call of ours, or to one that was cancelled: id {}", shown(message.id.text()));
        return;
    }
    const std::shared_ptr<Deferred<RawJson>> reply = entry->second;
    outgoing_.erase(entry);
    if (message.kind == Message::Kind::result) {
        reply->resolve(std::move(message.payload));
    } else {
        reply->reject(std::make_exception_ptr(parse_error(message.payload)));
    }
}

void Peer::on_notification(Message message) {
    const auto handler = notification_handlers_.find(message.method);
    if (handler == notification_handlers_.end()) {
        return;
    }
    try {
        if (admit_) {
            admit_(message.method, message.payload);
        }
        handler->second(std::move(message.payload));
    } catch (const Error& error) {
        log_warning("a {} notification was dropped: {}", shown(message.method), shown(error.message));
    }
}

void Peer::on_request(Message message) {
    if (incoming_.contains(message.id.text())) {
        const Error twice(ErrorCode::invalid_request,
                          fmt::format("expected a new id, found {}, whose request has not been answered yet",
                                      shown(message.id.text())));
        answer_with_error(RawJson(), twice);
        return;
    }
    RequestHandler handler;
    try {
        handler = admit_request(message);
    } catch (const Error& error) {
        answer_with_error(message.id, error);
        return;
    }
    const std::string id = message.id.text();
    // The task runs only after this coroutine has suspended, so its entry is there before it can end.
    incoming_[id] = tasks_.spawn(handle(std::move(handler), std::move(message)));
}

Peer::RequestHandler Peer::admit_request(const Message& message) const {
    if (admit_) {
        admit_(message.method, message.payload);
    }
    if (incoming_.size() >= max_incoming) {
        throw Error(ErrorCode::limit_exceeded, fmt::format("expected at most {} unanswered requests", max_incoming));
    }
    const auto entry = request_handlers_.find(message.method);
    if (entry == request_handlers_.end()) {
        throw Error(ErrorCode::method_not_found, fmt::format("there is no method \"{}\"", shown(message.method)));
    }
    return entry->second;
}

void Peer::cancel_incoming(const RawJson& id) {
    const auto entry = incoming_.find(id.text());
    if (entry != incoming_.end()) {
        const std::shared_ptr<CancelState> cancel = entry->second;
        cancel->cancel();
    }
}

Task<void> Peer::handle(RequestHandler handler, Message message) {
    std::optional<RawJson> result;
    std::string failure;
    try {
        result = co_await handler(std::move(message.payload), std::move(message.beside));
    } catch (const Cancelled& cancelled) {
        // MCP has it that a request that was given up is not answered.
        failure = dialect_ == Dialect::editor ? error_text(message.id, cancelled) : std::string();
    } catch (const Error& error) {
        failure = error_text(message.id, error);
    } catch (const std::exception& error) {
        log_error("the handler of {} failed: {}", message.method, error.what());
        failure = error_text(message.id, Error(ErrorCode::internal_error, error.what()));
    }
    incoming_.erase(message.id.text());
    if (closed_) {
        co_return;
    }
    if (result) {
        try {
            connection_->send(result_text(message.id, *result));
        } catch (const Error& error) {
            const Error unsent(error.code, fmt::format("the result cannot be sent: {}", error.message),
                               "ask for less at a time");
            failure = error_text(message.id, unsent);
        }
    }
    if (!failure.empty()) {
        answer_with_error(std::move(failure));
    }
}

} // namespace cellgate::protocol
