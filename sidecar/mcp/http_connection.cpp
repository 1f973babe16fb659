#include "mcp/http_connection.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_scan.hpp"
#include "base/raw_json.hpp"
#include "failed.hpp"
#include "http_answers.hpp"
#include "mcp/request_not_taken.hpp"
#include "parameter_headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

namespace cellgate::mcp {

namespace {

using namespace std::chrono_literals;

constexpr int max_refusals = 3; // "too many requests", in a row
constexpr Duration max_refusal = 30s;
constexpr Duration default_retry = 1s;
constexpr Duration max_retry = 30s;
constexpr int max_resumptions = 5; // without an event in between
constexpr Duration end_limit = 2s;

// As MCP writes a value into a header field: what is not plain is in base64.
std::string field_value(const std::string& text) {
    const bool plain =
        std::all_of(text.begin(), text.end(), [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); });
    const bool padded = !text.empty() && (text.front() <= ' ' || text.back() <= ' ');
    const bool marked = text.starts_with("=?base64?") && text.ends_with("?=");
    return plain && !padded && !marked ? text : fmt::format("=?base64?{}?=", encode_base64(text));
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
        const std::string_view params = json_member(text, "params");
        method = json_member_text(text, "method").value_or("");
        id = std::string(json_member(text, "id"));
        const std::string_view meta = json_member(params, "_meta");
        modern_version = json_member_text(meta, "io.modelcontextprotocol/protocolVersion").value_or("");
        if (method == "tools/call" || method == "prompts/get") {
            name = json_member_text(params, "name");
        } else if (method == "resources/read") {
            name = json_member_text(params, "uri");
        } else if (method.starts_with("tasks/")) {
            name = json_member_text(params, "taskId");
        } else if (method == "notifications/cancelled") {
            cancelled = std::string(json_member(params, "requestId"));
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

void HttpConnection::send(std::string text) {
    require_sendable(text);
    if (is_closed()) {
        return;
    }
    const auto message = std::make_shared<Message>(std::move(text));
    // In the modern era the end of a request's stream is its cancellation; in the legacy era the notification is sent,
    // too.
    const auto running = running_.find(message->cancelled);
    if (running != running_.end()) {
        const std::shared_ptr<CancelState> cancelled = running->second;
        cancelled->cancel();
        if (version_.empty()) {
            return;
        }
    }
    queued_bytes_ += message->text.size();
    const std::shared_ptr<CancelState> task = tasks_.spawn(post(message));
    if (message->is_request()) {
        running_[message->id] = task;
    }
}

Task<void> HttpConnection::end() {
    close();
    co_await tasks_.join();
    if (session_.empty()) {
        co_return;
    }
    async::HttpRequest ending = request("DELETE");
    try {
        co_await with_timeout(clock_, end_limit, send_authorized(http_, endpoint_.authorizer, std::move(ending)));
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
        const auto asked = parameter_headers_.find(message.method == "tools/call" ? message.name.value_or("") : "");
        if (asked != parameter_headers_.end()) {
            const std::string_view arguments = json_member(json_member(message.text, "params"), "arguments");
            for (const ParameterHeader& header : asked->second) {
                if (const std::optional<std::string> text = parameter_text(arguments, header)) {
                    made.fields.emplace_back("Mcp-Param-" + header.name, field_value(*text));
                }
            }
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
    } catch (const Error&) {
        fail(*message, std::current_exception());
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
        Answer answer = co_await send_authorized(http_, endpoint_.authorizer, std::move(made));
        *head = std::move(answer.head);
        const std::optional<Duration> wait = retry_after(*head);
        if (head->status != 429 || !wait || *wait > max_refusal || refusals == max_refusals) {
            co_return std::move(answer.exchange);
        }
        turn.reset();
        co_await sleep_for(clock_, *wait);
    }
}

Task<void> HttpConnection::take_answer(std::shared_ptr<Message> message, async::HttpExchange* exchange,
                                       async::HttpHead head) {
    const bool taken = succeeded(head);
    const std::size_t max_bytes = taken ? protocol::max_message_bytes : max_error_bytes;
    const std::string body = co_await whole_body(exchange, max_bytes);
    if (taken && media_type(head) == json_type_name && !body.empty()) {
        deliver(body, message.get());
    }
    if (taken && (message->answered || !message->is_request())) {
        co_return;
    }
    if (head.status == 404 && !session_.empty()) {
        session_.clear();
        fail(*message, std::make_exception_ptr(
                           RequestNotTaken(ErrorCode::tool_server_failed, "the server has ended the session")));
        close();
        co_return;
    }
    if (!taken && media_type(head) == json_type_name && message->is_request()) {
        std::string_view error;
        try {
            const RawJson parsed = RawJson::parse(body);
            error = parsed.is_object() ? json_member(parsed.text(), "error") : std::string_view();
            if (!error.empty() && json_type(error) == "object") {
                // Whose error it is says the request that it answers: its own id may be null.
                deliver(fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{}}})", message->id, error), message.get());
                co_return;
            }
        } catch (const Error&) {
            // It is no JSON, whatever it says.
        }
    }
    if (taken) {
        throw failed(fmt::format("the server answered {} with HTTP {} and no message", message->method, head.status));
    }
    if (message->method == "initialize" && (head.status == 400 || head.status == 404 || head.status == 405)) {
        const Error why = refusal(head, body);
        throw NotStreamable(why.code, why.message, why.hint);
    }
    throw refusal(head, body);
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
    Answer answer = co_await send_authorized(http_, endpoint_.authorizer, std::move(made));
    if (answer.head.status != 200 || media_type(answer.head) != events_type_name) {
        throw refusal(answer.head, "");
    }
    co_return std::move(answer.exchange);
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
            refused = error.code == ErrorCode::tool_server_failed || error.code == ErrorCode::login_required;
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
            const bool answers = parsed.is_object() && json_member(parsed.text(), "method").empty() &&
                                 json_member(parsed.text(), "id") == message->id;
            message->answered = message->answered || answers;
            const std::string_view result = answers ? json_member(parsed.text(), "result") : std::string_view();
            if (answers && message->method == "tools/list" && !message->modern_version.empty()) {
                learn_headers(result);
            }
            if (answers && message->method == "initialize") {
                version_ = json_member_text(result, "protocolVersion").value_or("");
                version_ = is_visible(version_) ? version_ : std::string();
            }
        } catch (const Error&) {
            // The reader says what is wrong with it.
        }
    }
    push({std::move(text), {}, false, nullptr, message != nullptr ? message->id : std::string()});
}

void HttpConnection::learn_headers(std::string_view result) {
    const std::string_view tools = json_member(result, "tools");
    if (tools.empty() || json_type(tools) != "array") {
        return;
    }
    for (const std::string_view tool : json_elements(tools)) {
        const std::string_view schema = json_member(tool, "inputSchema");
        if (const std::optional<std::string> name = schema.empty() ? std::nullopt : json_member_text(tool, "name")) {
            try {
                parameter_headers_[*name] = parameter_headers(schema);
            } catch (const Error&) {
                parameter_headers_.erase(*name); // the client leaves the tool out, and says why
            }
        }
    }
}

void HttpConnection::fail(const Message& message, std::exception_ptr why) {
    if (message.is_request() && !message.answered) {
        push_failure(message.id, std::move(why));
    }
}

} // namespace cellgate::mcp
