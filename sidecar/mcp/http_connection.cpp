#include "mcp/http_connection.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_scan.hpp"
#include "base/raw_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace cellgate::mcp {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view json_type_name = "application/json";
constexpr std::string_view events_type_name = "text/event-stream";
constexpr std::size_t max_error_bytes = std::size_t{64} << 10; // of the body of an answer that is an error
constexpr int max_refusals = 3;                                // "too many requests", in a row
constexpr Duration max_refusal = 30s;
constexpr Duration default_retry = 1s;
constexpr Duration max_retry = 30s;
constexpr int max_resumptions = 5; // without an event in between
constexpr Duration end_limit = 2s;

Error failed(std::string message, std::string hint = {}) {
    return Error(ErrorCode::tool_server_failed, std::move(message), std::move(hint));
}

// Of a member of an object; nothing when it is no string.
std::optional<std::string> text_of(std::string_view object, std::string_view name) {
    for (const auto& [key, value] : json_members(object)) {
        if (key == name && json_type(value) == "string") {
            return decode_json_string(value);
        }
    }
    return std::nullopt;
}

std::string_view member(std::string_view object, std::string_view name) {
    for (const auto& [key, value] : json_members(object)) {
        if (key == name) {
            return value;
        }
    }
    return {};
}

// As MCP writes a value into a header field: what is not plain is in base64.
std::string field_value(const std::string& text) {
    const bool plain =
        std::all_of(text.begin(), text.end(), [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); });
    const bool padded = !text.empty() && (text.front() <= ' ' || text.back() <= ' ');
    const bool marked = text.starts_with("=?base64?") && text.ends_with("?=");
    return plain && !padded && !marked ? text : fmt::format("=?base64?{}?=", encode_base64(text));
}

// Without parameters, in lower case.
std::string media_type(const async::HttpHead& head) {
    std::string type = head.field("content-type").value_or("");
    type = type.substr(0, type.find_first_of("; \t"));
    std::transform(type.begin(), type.end(), type.begin(), [](unsigned char c) { return std::tolower(c); });
    return type;
}

std::string status_words(int status) {
    constexpr std::array<std::pair<int, std::string_view>, 10> known = {{{400, "Bad Request"},
                                                                         {401, "Unauthorized"},
                                                                         {403, "Forbidden"},
                                                                         {404, "Not Found"},
                                                                         {405, "Method Not Allowed"},
                                                                         {429, "Too Many Requests"},
                                                                         {500, "Internal Server Error"},
                                                                         {502, "Bad Gateway"},
                                                                         {503, "Service Unavailable"},
                                                                         {504, "Gateway Timeout"}}};
    for (const auto& [number, words] : known) {
        if (number == status) {
            return fmt::format("{} {}", number, words);
        }
    }
    return std::to_string(status);
}

// Seconds; a date is not understood.
std::optional<Duration> retry_after(const async::HttpHead& head) {
    const std::string text = head.field("retry-after").value_or("");
    int seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || end != text.data() + text.size() || seconds < 0) {
        return std::nullopt;
    }
    return std::chrono::seconds(seconds);
}

bool is_visible(const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

} // namespace

// A message of ours.
struct HttpConnection::Message {
    explicit Message(std::string text_) : text(std::move(text_)) {
        const std::string_view params = member(text, "params");
        method = text_of(text, "method").value_or("");
        id = std::string(member(text, "id"));
        if (!params.empty() && json_type(params) == "object") {
            const std::string_view meta = member(params, "_meta");
            if (!meta.empty() && json_type(meta) == "object") {
                modern_version = text_of(meta, "io.modelcontextprotocol/protocolVersion").value_or("");
            }
            if (method == "tools/call" || method == "prompts/get") {
                name = text_of(params, "name");
            } else if (method == "resources/read") {
                name = text_of(params, "uri");
            } else if (method == "notifications/cancelled") {
                cancelled = std::string(member(params, "requestId"));
            }
        }
    }

    bool is_request() const { return !method.empty() && !id.empty(); }

    std::string text;
    std::string method; // empty: it is an answer
    std::string id;     // as JSON
    std::string modern_version;
    std::optional<std::string> name;
    std::string cancelled; // the id of the request that this ends, as JSON
    bool answered = false;
};

HttpConnection::HttpConnection(async::HttpClient& http, Clock& clock, HttpEndpoint endpoint)
    : http_(http), clock_(clock), endpoint_(std::move(endpoint)) {}

HttpConnection::~HttpConnection() = default;

Task<std::optional<protocol::Frame>> HttpConnection::receive() {
    const auto has_something = [this] { return closed_ || !arrived_.empty(); };
    co_await changed_.until(has_something);
    if (arrived_.empty()) {
        co_return std::nullopt;
    }
    protocol::Frame frame = std::move(arrived_.front());
    arrived_.pop_front();
    co_return frame;
}

void HttpConnection::send(std::string text) {
    if (text.size() > protocol::max_message_bytes) {
        throw Error(ErrorCode::limit_exceeded, fmt::format("expected a message of at most {} bytes, found {}",
                                                           protocol::max_message_bytes, text.size()));
    }
    if (closed_) {
        return;
    }
    const auto message = std::make_shared<Message>(std::move(text));
    // In the modern era the end of a request's stream is its cancellation.
    const auto running = running_.find(message->cancelled);
    if (running != running_.end() && version_.empty()) {
        running->second->cancel();
        return;
    }
    queued_bytes_ += message->text.size();
    const std::shared_ptr<CancelState> task = tasks_.spawn(post(message));
    if (message->is_request()) {
        running_[message->id] = task;
    }
}

Task<void> HttpConnection::drained(std::size_t below) {
    const auto is_drained = [this, below] { return closed_ || queued_bytes_ <= below; };
    co_await changed_.until(is_drained);
}

void HttpConnection::close() {
    closed_ = true;
    tasks_.cancel();
    changed_.notify();
}

Task<void> HttpConnection::end() {
    close();
    co_await tasks_.join();
    if (session_.empty()) {
        co_return;
    }
    async::HttpRequest ending = request("DELETE");
    const std::unique_ptr<async::HttpExchange> exchange = http_.start(std::move(ending));
    try {
        co_await with_timeout(clock_, end_limit, exchange->head());
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        // It may have gone, or let no client end a session.
    }
}

async::HttpRequest HttpConnection::request(std::string method) const {
    async::HttpRequest made;
    made.method = std::move(method);
    made.url = endpoint_.url;
    made.fields = endpoint_.fields;
    if (!session_.empty()) {
        made.fields.emplace_back("Mcp-Session-Id", session_);
    }
    if (!version_.empty()) {
        made.fields.emplace_back("MCP-Protocol-Version", version_);
    }
    return made;
}

async::HttpRequest HttpConnection::request_for(const Message& message) const {
    async::HttpRequest made = request("POST");
    made.fields.emplace_back("Content-Type", json_type_name);
    made.fields.emplace_back("Accept", fmt::format("{}, {}", json_type_name, events_type_name));
    if (!message.modern_version.empty()) {
        made.fields.emplace_back("MCP-Protocol-Version", message.modern_version);
        made.fields.emplace_back("Mcp-Method", message.method);
        if (message.name) {
            made.fields.emplace_back("Mcp-Name", field_value(*message.name));
        }
    }
    made.body = message.text;
    return made;
}

// ---- A message and its answer ---------------------------------------------------------------------------------------

Task<void> HttpConnection::post(std::shared_ptr<Message> message) {
    std::exception_ptr cancelled;
    try {
        co_await post_once(message);
    } catch (const Cancelled&) {
        cancelled = std::current_exception();
    } catch (const Error& error) {
        fail(*message, error);
    }
    queued_bytes_ -= message->text.size();
    running_.erase(message->id);
    changed_.notify();
    if (cancelled) {
        std::rethrow_exception(cancelled);
    }
}

Task<void> HttpConnection::post_once(std::shared_ptr<Message> message) {
    async::HttpHead head;
    std::unique_ptr<async::HttpExchange> exchange = co_await start(message, &head);
    if (message->method == "initialize" && head.status == 200) {
        const std::optional<std::string> session = head.field("mcp-session-id");
        if (session && is_visible(*session)) {
            session_ = *session;
        }
    }
    if (head.status == 200 && media_type(head) == events_type_name) {
        co_await take_events(message, std::move(exchange));
    } else {
        co_await take_answer(message, exchange.get(), head);
    }
    if (message->method == "notifications/initialized" && !std::exchange(listening_, true)) {
        tasks_.spawn(listen());
    }
}

// Sends it until the server takes it.
Task<std::unique_ptr<async::HttpExchange>> HttpConnection::start(std::shared_ptr<Message> message,
                                                                 async::HttpHead* head) {
    for (int refusals = 0;; ++refusals) {
        std::optional<Mutex::Lock> turn = co_await order_.lock();
        if (message->is_request()) {
            turn.reset();
        }
        async::HttpRequest made = request_for(*message);
        std::unique_ptr<async::HttpExchange> exchange = http_.start(std::move(made));
        *head = co_await exchange->head();
        const std::optional<Duration> wait = retry_after(*head);
        if (head->status != 429 || !wait || *wait > max_refusal || refusals == max_refusals) {
            co_return exchange;
        }
        turn.reset();
        co_await sleep_for(clock_, *wait);
    }
}

Task<void> HttpConnection::take_answer(std::shared_ptr<Message> message, async::HttpExchange* exchange,
                                       async::HttpHead head) {
    const bool succeeded = head.status >= 200 && head.status < 300;
    const std::string body = co_await whole_body(exchange, succeeded ? protocol::max_message_bytes : max_error_bytes);
    if (succeeded && media_type(head) == json_type_name && !body.empty()) {
        deliver(body, message.get());
    }
    if (succeeded && (message->answered || !message->is_request())) {
        co_return;
    }
    if (head.status == 404 && !session_.empty()) {
        session_.clear();
        fail(*message, failed("the server has ended the session", "Call again: another one is begun."));
        close();
        co_return;
    }
    if (!succeeded && media_type(head) == json_type_name && message->is_request()) {
        std::string_view error;
        try {
            const RawJson parsed = RawJson::parse(body);
            error = parsed.is_object() ? member(parsed.text(), "error") : std::string_view();
            if (!error.empty() && json_type(error) == "object") {
                // Whose error it is says the request that it answers: its own id may be null.
                deliver(fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{}}})", message->id, error), message.get());
                co_return;
            }
        } catch (const Error&) {
            // It is no JSON, whatever it says.
        }
    }
    if (succeeded) {
        throw failed(fmt::format("the server answered {} with HTTP {} and no message", message->method, head.status));
    }
    if (head.status >= 300 && head.status < 400) {
        throw failed(fmt::format("the server redirects to {}, which is not followed",
                                 escape_unprintable(head.field("location").value_or("nowhere").substr(0, 200))),
                     "If that is right, name that URL in the configuration.");
    }
    const std::string words = escape_unprintable(std::string_view(body).substr(0, 200));
    throw failed(fmt::format("the server answered with HTTP {}{}{}", status_words(head.status),
                             words.empty() ? "" : ": ", words),
                 head.status == 401 ? "It wants authorization: give it in the headers of its configuration." : "");
}

Task<std::string> HttpConnection::whole_body(async::HttpExchange* exchange, std::size_t max_bytes) {
    std::string body;
    std::string bytes = co_await exchange->read();
    while (!bytes.empty()) {
        body += bytes;
        if (body.size() > max_bytes) {
            throw Error(ErrorCode::limit_exceeded,
                        fmt::format("expected an answer of at most {} bytes, found a longer one", max_bytes));
        }
        bytes = co_await exchange->read();
    }
    co_return body;
}

// ---- Streams of events ----------------------------------------------------------------------------------------------

Task<void> HttpConnection::take_events(std::shared_ptr<Message> message,
                                       std::unique_ptr<async::HttpExchange> exchange) {
    EventStream stream(protocol::max_message_bytes);
    std::string resumed_from;
    for (int without_events = 0;;) {
        try {
            co_await read_stream(exchange.get(), &stream, message.get());
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            if (error.code == ErrorCode::limit_exceeded) {
                throw;
            }
        }
        if (message->answered || !message->is_request()) {
            co_return;
        }
        const std::string& last_id = stream.last_id();
        without_events = last_id == resumed_from ? without_events + 1 : 0;
        if (last_id.empty() || version_.empty() || without_events == max_resumptions) {
            throw failed(fmt::format("the connection ended before {} was answered", message->method),
                         "Whether it was carried out is not known.");
        }
        resumed_from = last_id;
        co_await sleep_for(clock_, stream.retry().value_or(default_retry));
        exchange = co_await resume(last_id);
    }
}

Task<void> HttpConnection::read_stream(async::HttpExchange* exchange, EventStream* stream, Message* message) {
    std::string bytes = co_await exchange->read();
    while (!bytes.empty()) {
        for (ServerSentEvent& event : stream->add(bytes)) {
            if (event.type == "message" && !event.data.empty()) { // without data it only gives an id
                deliver(std::move(event.data), message);
            }
        }
        if (message != nullptr && message->answered) {
            co_return;
        }
        bytes = co_await exchange->read();
    }
}

Task<std::unique_ptr<async::HttpExchange>> HttpConnection::resume(std::string last_id) {
    async::HttpRequest made = request("GET");
    made.fields.emplace_back("Accept", events_type_name);
    if (!last_id.empty()) {
        made.fields.emplace_back("Last-Event-ID", std::move(last_id));
    }
    std::unique_ptr<async::HttpExchange> exchange = http_.start(std::move(made));
    const async::HttpHead head = co_await exchange->head();
    if (head.status != 200 || media_type(head) != events_type_name) {
        throw failed(fmt::format("the server answered with HTTP {}", status_words(head.status)));
    }
    co_return exchange;
}

// Until the server says that it has no such stream.
Task<void> HttpConnection::listen() {
    EventStream stream(protocol::max_message_bytes);
    Duration pause = default_retry;
    while (true) {
        bool refused = false;
        try {
            const std::unique_ptr<async::HttpExchange> exchange = co_await resume(stream.last_id());
            pause = stream.retry().value_or(default_retry);
            co_await read_stream(exchange.get(), &stream, nullptr);
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            refused = error.code == ErrorCode::tool_server_failed;
        }
        if (refused) {
            co_return;
        }
        co_await sleep_for(clock_, pause);
        pause = std::min(pause * 2, max_retry);
    }
}

// ---- What arrives ---------------------------------------------------------------------------------------------------

void HttpConnection::deliver(std::string text, Message* message) {
    if (message != nullptr && message->is_request()) {
        try {
            const RawJson parsed = RawJson::parse(text);
            const bool answers = parsed.is_object() && member(parsed.text(), "method").empty() &&
                                 member(parsed.text(), "id") == message->id;
            message->answered = message->answered || answers;
            if (answers && message->method == "initialize") {
                const std::string_view result = member(parsed.text(), "result");
                version_ = result.empty() || json_type(result) != "object"
                               ? std::string()
                               : text_of(result, "protocolVersion").value_or("");
                version_ = is_visible(version_) ? version_ : std::string();
            }
        } catch (const Error&) {
            // The reader says what is wrong with it.
        }
    }
    push(protocol::Frame{std::move(text), {}, false});
}

void HttpConnection::fail(const Message& message, const Error& why) {
    if (message.is_request() && !message.answered) {
        const std::string problem = fmt::format("{}{}{}", why.message, why.hint.empty() ? "" : ". ", why.hint);
        push(protocol::Frame{fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":)", message.id), problem, false});
    }
}

void HttpConnection::push(protocol::Frame frame) {
    arrived_.push_back(std::move(frame));
    changed_.notify();
}

} // namespace cellgate::mcp
