#include "redirect_receiver.hpp"

#include "base/hash.hpp"
#include "base/sync.hpp"
#include "base/text.hpp"
#include "mcp/web_address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace cellgate::tools {

namespace {

constexpr std::string_view redirect_path = "/callback";
constexpr std::size_t max_request_bytes = std::size_t{16} << 10;
constexpr std::size_t max_connections = 16; // at a time
constexpr Duration request_limit = std::chrono::seconds(10);
constexpr Duration answer_limit = std::chrono::seconds(5);

// The value of a field; nothing unless there is exactly one of that name.
std::optional<std::string> only_field(std::string_view head, std::string_view name) {
    std::optional<std::string> value;
    for (std::size_t at = head.find("\r\n"); at != std::string_view::npos; at = head.find("\r\n", at + 2)) {
        const std::string_view line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos || lower(line.substr(0, colon)) != name) {
            continue;
        }
        if (value) {
            return std::nullopt;
        }
        value = lower(trim(line.substr(colon + 1)));
    }
    return value;
}

// Nothing if there is none, or several: which one counts would be a guess.
std::optional<std::string> only_value(const mcp::FormFields& fields, std::string_view name) {
    std::optional<std::string> value;
    for (const auto& [each, text] : fields) {
        if (each == name) {
            if (value) {
                return std::nullopt;
            }
            value = text;
        }
    }
    return value;
}

} // namespace

struct RedirectReceiver::Page {
    std::string_view status;
    std::string_view words;

    // Nothing of the request is in it.
    std::string text() const {
        const std::string body = fmt::format(
            "<!DOCTYPE html><html><head><title>cellgate</title></head><body><p>{}</p></body></html>\n", words);
        return fmt::format("HTTP/1.1 {}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n"
                           "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
                           "Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\n"
                           "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{}",
                           status, body.size(), body);
    }
};

RedirectReceiver::RedirectReceiver(async::Loop& loop, Clock& clock, std::uint16_t port)
    : clock_(clock), listener_(loop, port) {}

std::string RedirectReceiver::uri() const {
    return fmt::format("http://127.0.0.1:{}{}", port(), redirect_path);
}

Task<mcp::AuthorizationResponse> RedirectReceiver::receive(std::string state) {
    state_ = std::move(state);
    connections_.spawn(accept_all());
    std::exception_ptr cancelled;
    try {
        co_await ended_.wait();
    } catch (const Cancelled&) {
        cancelled = std::current_exception();
    }
    listener_.close();
    connections_.cancel(); // the browser has its page by now
    co_await shielded(connections_.join());
    if (cancelled || error_) {
        std::rethrow_exception(cancelled ? cancelled : error_);
    }
    co_return std::move(*response_);
}

Task<void> RedirectReceiver::accept_all() {
    try {
        std::unique_ptr<async::SocketStream> stream = co_await listener_.accept();
        while (stream) {
            if (connections_.running() <= max_connections) {
                connections_.spawn(serve(std::move(stream)));
            }
            stream = co_await listener_.accept();
        }
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        error_ = std::current_exception();
        ended_.set();
    }
}

namespace {

// Up to the empty line that ends it. Empty if it is too long, or the connection ends before.
Task<std::string> read_request_head(async::SocketStream* stream) {
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos) {
        const std::string bytes = co_await stream->read();
        head += bytes;
        if (bytes.empty() || head.size() > max_request_bytes) {
            co_return std::string();
        }
    }
    head.resize(head.find("\r\n\r\n"));
    co_return head;
}

} // namespace

Task<void> RedirectReceiver::serve(std::unique_ptr<async::SocketStream> stream) {
    try {
        const std::optional<std::string> head =
            co_await with_timeout(clock_, request_limit, read_request_head(stream.get()));
        if (head && !head->empty()) {
            const Page page = answer(*head);
            stream->write(page.text());
            stream->close_output();
            co_await with_timeout(clock_, answer_limit, stream->drained(0));
        }
    } catch (const Cancelled&) {
        stream->abort();
        throw;
    } catch (const Error&) {
        // The connection broke, and no browser waits for an answer any more.
    }
    stream->close();
    if (response_) {
        ended_.set();
    }
}

RedirectReceiver::Page RedirectReceiver::answer(std::string_view head) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    const std::size_t target_start = line.find(' ');
    const std::size_t target_end = line.rfind(' ');
    if (target_start == std::string_view::npos || target_end <= target_start ||
        !line.substr(target_end + 1).starts_with("HTTP/1.")) {
        return {"400 Bad Request", "This is no request that cellgate understands."};
    }
    if (line.substr(0, target_start) != "GET") {
        return {"405 Method Not Allowed", "Only GET is taken here."};
    }
    // Another name that leads here belongs to a page that wants to be taken for this one.
    const std::optional<std::string> host = only_field(head, "host");
    if (host != fmt::format("127.0.0.1:{}", port()) && host != fmt::format("localhost:{}", port())) {
        return {"400 Bad Request", "This is not the address that cellgate answers at."};
    }
    const std::string_view target = line.substr(target_start + 1, target_end - target_start - 1);
    const std::size_t query = std::min(target.find('?'), target.size());
    if (target.substr(0, query) != redirect_path) {
        return {"404 Not Found", "There is nothing here."};
    }
    const mcp::FormFields fields =
        mcp::decode_form(target.substr(std::min(query + 1, target.size()))).value_or(mcp::FormFields{});
    if (!equal_constant_time(only_value(fields, "state").value_or(""), state_) || response_) {
        return {"400 Bad Request", "No login waits for this. Begin it again where you started it."};
    }
    response_ =
        mcp::AuthorizationResponse{only_value(fields, "code"), only_value(fields, "iss"), only_value(fields, "error")};
    return {"200 OK", "You can close this window. Whether the login worked is shown where you started it."};
}

} // namespace cellgate::tools
