#include "mcp/sse_connection.hpp"

#include "base/escape_unprintable.hpp"
#include "base/json_scan.hpp"
#include "failed.hpp"
#include "http_answers.hpp"
#include "mcp/event_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cellgate::mcp {

namespace {

// The id of a request of ours, as JSON; empty for other messages.
std::string id_of(const std::string& message) {
    return json_member(message, "method").empty() ? std::string() : std::string(json_member(message, "id"));
}

} // namespace

std::string same_origin_url(const std::string& url, const std::string& reference) {
    const std::size_t host = url.find("://") + 3;
    const std::size_t path = std::min(url.find_first_of("/?#", host), url.size());
    const std::string origin = url.substr(0, path);
    if (reference.starts_with(origin + "/")) {
        return reference;
    }
    if (reference.find("://") != std::string::npos || reference.starts_with("//")) {
        throw failed(fmt::format("the server names {} for messages, which is not of {}",
                                 escape_unprintable(reference.substr(0, 200)), escape_unprintable(origin)));
    }
    if (reference.starts_with("/")) {
        return origin + reference;
    }
    const std::string folder = url.substr(path, url.find_first_of("?#", path) - path);
    return origin + folder.substr(0, folder.rfind('/') + 1) + (folder.empty() ? "/" : "") + reference;
}

void SseConnection::send(std::string message) {
    require_sendable(message);
    if (is_closed()) {
        return;
    }
    queued_bytes_ += message.size();
    queued_.push_back(std::move(message));
    changed_.notify();
    if (!std::exchange(listening_, true)) {
        tasks_.spawn(listen());
        tasks_.spawn(post_all());
    }
}

Task<void> SseConnection::end() {
    close();
    co_await tasks_.join();
}

Task<void> SseConnection::listen() {
    try {
        co_await read_events();
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        fail_queued(std::current_exception());
    }
    close();
}

Task<void> SseConnection::read_events() {
    async::HttpRequest request{"GET", endpoint_.url, endpoint_.fields, {}};
    request.fields.emplace_back("Accept", events_type_name);
    const Answer answer = co_await send_authorized(http_, endpoint_.authorizer, std::move(request));
    const std::unique_ptr<async::HttpExchange>& exchange = answer.exchange;
    const async::HttpHead& head = answer.head;
    if (head.status != 200 || media_type(head) != events_type_name) {
        const std::string body = co_await whole_body(exchange.get(), max_error_bytes);
        throw refusal(head, body);
    }
    EventStream stream(protocol::max_message_bytes);
    std::string bytes = co_await exchange->read();
    while (!bytes.empty()) {
        for (ServerSentEvent& event : stream.add(bytes)) {
            if (event.type == "endpoint" && post_url_.empty()) {
                post_url_ = same_origin_url(endpoint_.url, event.data);
            } else if (event.type == "message") {
                push({std::move(event.data), {}, false, nullptr});
            }
        }
        changed_.notify();
        bytes = co_await exchange->read();
    }
}

void SseConnection::fail_queued(std::exception_ptr why) {
    for (const std::string& message : std::exchange(queued_, {})) {
        if (std::string id = id_of(message); !id.empty()) {
            push_failure(std::move(id), why);
        }
    }
}

Task<void> SseConnection::post_all() {
    const auto can_post = [this] { return !post_url_.empty() && !queued_.empty(); };
    while (true) {
        co_await changed_.until(can_post);
        std::string message = std::move(queued_.front());
        queued_.pop_front();
        const std::size_t bytes = message.size();
        std::string id = id_of(message);
        try {
            co_await post(std::move(message));
        } catch (const Cancelled&) {
            throw;
        } catch (const Error&) {
            if (!id.empty()) {
                push_failure(std::move(id), std::current_exception());
            }
        }
        queued_bytes_ -= bytes;
        changed_.notify();
    }
}

Task<void> SseConnection::post(std::string message) {
    async::HttpRequest request{"POST", post_url_, endpoint_.fields, std::move(message)};
    request.fields.emplace_back("Content-Type", json_type_name);
    const Answer answer = co_await send_authorized(http_, endpoint_.authorizer, std::move(request));
    const std::string body = co_await whole_body(answer.exchange.get(), max_error_bytes);
    if (!succeeded(answer.head)) {
        throw refusal(answer.head, body);
    }
}

} // namespace cellgate::mcp
