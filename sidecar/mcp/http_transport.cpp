#include "mcp/http_transport.hpp"

#include "base/error.hpp"
#include "http_answers.hpp"
#include "www_authenticate.hpp"

#include <fmt/format.h>

#include <utility>

namespace cellgate::mcp {

namespace {

constexpr int max_authorizations = 3; // of one request

} // namespace

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

Task<HttpTransport::Answer> HttpTransport::send_authorized(async::HttpClient& http,
                                                           std::shared_ptr<Authorizer> authorizer,
                                                           async::HttpRequest request) {
    Answer answer;
    if (!authorizer) {
        answer.exchange = http.start(std::move(request));
        answer.head = co_await answer.exchange->head();
        co_return answer;
    }
    for (int authorizations = 1;; ++authorizations) {
        const std::string authorization = co_await authorizer->authorization();
        async::HttpRequest made = request;
        if (!authorization.empty()) {
            made.fields.emplace_back("Authorization", authorization);
        }
        answer.exchange = http.start(std::move(made));
        answer.head = co_await answer.exchange->head();
        const int status = answer.head.status;
        const std::optional<BearerChallenge> challenge = bearer_challenge(answer.head);
        // A 403 without a challenge is about something else than the token.
        if ((status != 401 && !(status == 403 && challenge)) || authorizations == max_authorizations) {
            co_return answer;
        }
        BearerChallenge asked = challenge.value_or(BearerChallenge{});
        const bool again = authorizations > 1;
        const bool has_another = co_await authorizer->refused(status, std::move(asked), authorization, again);
        if (!has_another) {
            co_return answer;
        }
    }
}

void HttpTransport::push(protocol::Frame frame) {
    arrived_.push_back(std::move(frame));
    changed_.notify();
}

} // namespace cellgate::mcp
