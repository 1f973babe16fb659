#include "request_relay.hpp"

#include "base/escape_unprintable.hpp"
#include "base/known_secrets.hpp"
#include "base/sync.hpp"
#include "http_answer.hpp"
#include "inspector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace cellgate::egress {

namespace {

constexpr Duration request_limit = std::chrono::seconds(30); // for the first head
constexpr Duration idle_limit = std::chrono::seconds(60);    // between requests
constexpr Duration server_idle_limit = std::chrono::seconds(3);
constexpr Duration farewell_limit = std::chrono::seconds(3);
constexpr std::size_t max_target_bytes = std::size_t{8} << 10;
constexpr std::size_t max_waiting_bytes = std::size_t{256} << 10; // of a client that goes on while it is answered
constexpr std::size_t max_queued_bytes = std::size_t{256} << 10;

// Servers that obey these do something else than what was judged.
constexpr std::array<std::string_view, 5> overrides = {"x-http-method-override", "x-http-method", "x-method-override",
                                                       "x-original-url", "x-rewrite-url"};
// A part of an answer may have a part of a secret, which no mask finds. SDKs that sign load large objects in parts.
constexpr std::array<std::string_view, 3> asking_for_a_part = {"range", "if-range", "request-range"};

void require_readable(const RequestHead& head) {
    for (const auto& [name, value] : head.fields) {
        if (std::any_of(overrides.begin(), overrides.end(),
                        [&name](std::string_view each) { return is_one_field(name, each); })) {
            throw Error(ErrorCode::denied,
                        fmt::format("the header {} asks the server for another method or path than the request has; "
                                    "send that itself",
                                    name));
        }
    }
    if (head.target.size() > max_target_bytes) {
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("expected a path of at most {} bytes, found {}", max_target_bytes, head.target.size()));
    }
    if (!head.target.starts_with('/') && head.target != "*") {
        throw Error(ErrorCode::invalid_request,
                    fmt::format("expected a request for a path, found one for: {}",
                                escape_unprintable(std::string_view(head.target).substr(0, 300))));
    }
}

// What the code sends through a proxy has the whole URL, which was read already.
void keep_path_alone(RequestHead& head) {
    const std::size_t scheme = head.target.find("://");
    if (!head.target.starts_with('/') && scheme != std::string::npos) {
        const std::size_t end = std::min(head.target.find_first_of("/?", scheme + 3), head.target.size());
        head.target = (head.target.compare(end, 1, "/") == 0 ? "" : "/") + head.target.substr(end);
    }
}

} // namespace

RequestRelay::RequestRelay(Clock& clock, Connector& connector, RelayedClient client)
    : clock_(clock), connector_(connector), client_(std::move(client.stream)), in_(std::move(client.early)),
      endpoint_(std::move(client.endpoint)), source_(std::move(client.source)), tls_(client.tls),
      to_proxy_(client.to_proxy) {}

Task<void> RequestRelay::run() {
    return finally(relay(), close());
}

Task<void> RequestRelay::relay() {
    try {
        bool more = true;
        while (more) {
            more = co_await serve_next();
        }
        client_->close_output();
        auto gone = client_->drained(0);
        co_await with_timeout(clock_, farewell_limit, std::move(gone));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        // The client has gone.
    }
}

Task<void> RequestRelay::close() {
    client_->abort();
    if (server_) {
        server_->abort();
    }
    tasks_.cancel();
    co_await tasks_.join();
}

Task<bool> RequestRelay::serve_next() {
    awaits_answer_ = false;
    answering_ = false;
    last_request_ = true;
    execution_id_.reset();
    std::optional<Error> failure;
    try {
        const Duration limit = server_ ? idle_limit : request_limit;
        std::optional<std::optional<RequestHead>> head = co_await with_timeout(clock_, limit, read_head());
        if (!head || !*head) {
            co_return false;
        }
        co_return co_await serve(std::move(**head));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        failure = error;
    }
    if (failure->code == ErrorCode::denied) {
        connector_.log_refusal(endpoint_, failure->message);
    }
    if (!answering_) {
        const ErrorCode code = awaits_answer_ ? ErrorCode::internal_error : failure->code;
        co_await connector_.gate().recorded();
        client_->write(http_answer(http_status_of(code), failure->message));
    }
    co_return false;
}

Task<std::optional<RequestHead>> RequestRelay::read_head() {
    std::optional<std::size_t> size = head_size(in_);
    while (!size) {
        const std::string bytes = co_await client_->read();
        if (bytes.empty()) {
            co_return std::nullopt;
        }
        in_ += bytes;
        size = head_size(in_);
    }
    RequestHead head = parse_head(std::string_view(in_).substr(0, *size));
    in_.erase(0, *size);
    co_return std::move(head);
}

Task<bool> RequestRelay::serve(RequestHead head) {
    keep_path_alone(head);
    require_host(head, endpoint_);
    require_readable(head);
    MessageBody body(head);
    const std::optional<std::string> expects = head.single("expect");
    Judged judged;
    RequestToJudge& request = judged.request;
    request.opens_web_socket =
        head.method == "GET" && head.lists("connection", "upgrade") && head.lists("upgrade", "websocket");
    last_request_ = to_proxy_ || head.minor_version == 0 || head.lists("connection", "close") ||
                    head.lists("proxy-connection", "close");
    request.head = std::move(head);
    request.head.erase_hop_by_hop();
    request.head.erase("expect");
    if (!body.is_chunked()) {
        request.length = body.left();
    }
    co_await read_body(&request, &body, expects.has_value());
    std::optional<Ended> ended;
    if (request.complete) {
        ended = co_await while_client_stays(exchange(&judged, &body));
    } else {
        ended = co_await exchange(&judged, &body);
    }
    if (ended == Ended::web_socket) {
        co_await carry_web_socket();
    }
    judged.outcome.carried(sent_, received_);
    if (ended) {
        judged.outcome.succeeded();
    }
    co_return ended == Ended::keep && !client_gone_.is_set();
}

// The content of a body that is there.
std::string RequestRelay::take_in(MessageBody& body) {
    std::string content;
    in_.erase(0, body.take(in_, &content));
    return content;
}

Task<void> RequestRelay::read_body(RequestToJudge* request, MessageBody* body, bool expects_continue) {
    if (expects_continue && !body->ended() && in_.empty()) {
        client_->write("HTTP/1.1 100 Continue\r\n\r\n");
    }
    request->complete = false;
    const bool too_long = request->length.value_or(0) > max_known_body_bytes;
    while (!body->ended() && !too_long && request->body.size() <= max_known_body_bytes) {
        if (in_.empty()) {
            in_ = co_await client_->read();
            if (in_.empty()) {
                throw Error(ErrorCode::invalid_request, "the connection ended before its request was complete");
            }
        }
        request->body += take_in(*body);
    }
    request->complete = body->ended();
    if (request->complete) {
        request->length = request->body.size();
    }
}

Task<RequestRelay::Ended> RequestRelay::exchange(Judged* judged, MessageBody* body) {
    co_await judge(judged);
    co_await gate::reporting_failure(judged->outcome, put_in_secrets(judged));
    // What a server says late about a request with secrets must not pass as the answer to one without.
    std::vector<std::string> secrets = secret_names(judged->injections);
    const bool may_reuse = judged->request.complete && !judged->request.opens_web_socket && secrets == server_secrets_;
    sent_ = 0;
    received_ = 0;
    co_await gate::reporting_failure(judged->outcome, open_server(may_reuse));
    server_secrets_ = std::move(secrets);
    co_await send(judged, body);
    awaits_answer_ = true;
    auto passing = gate::reporting_failure(judged->outcome, pass_response(judged));
    const Ended ended = co_await std::move(passing);
    co_return ended;
}

Task<void> RequestRelay::judge(Judged* judged) {
    gate::HttpRequest action = request_action(endpoint_, tls_, judged->request);
    gate::Request asked = connector_.request_for(std::move(action), source_);
    if (tls_) {
        judged->injections = connector_.gate().injections(asked);
    }
    judged->cleared = clear_places(judged->request, judged->injections);
    gate::HttpRequest shown = request_action(endpoint_, tls_, judged->request);
    std::vector<std::string> names = secret_names(judged->injections);
    if (!names.empty()) {
        shown.secrets = std::move(names);
    }
    auto& made = std::get<gate::HttpRequest>(asked.action);
    shown.server = std::move(made.server);
    shown.program = std::move(made.program);
    shown.server_identity = std::move(made.server_identity);
    made = shown;
    asked.refusal = judged->cleared.unsignable;
    if (!asked.refusal) {
        asked.refusal = connector_.misplaced_secret(judged->request);
    }
    asked.edit_form = edit_form(judged->request);
    if (asked.edit_form) {
        asked.edit = [shown, endpoint = endpoint_, tls = tls_](const RawJson& form) -> gate::Action {
            gate::HttpRequest edited = request_action(endpoint, tls, edited_request(form));
            edited.server = shown.server;
            edited.secrets = shown.secrets;
            edited.program = shown.program;
            edited.server_identity = shown.server_identity;
            return edited;
        };
    }
    std::optional<std::string> execution_id = asked.execution_id;
    gate::Decision decision = co_await connector_.gate().decide(std::move(asked));
    connector_.require_allowed(endpoint_, decision);
    judged->outcome = connector_.gate().outcome_report(decision);
    const bool by_rule = decision.by == protocol::ResolvedBy::rule && decision.rule;
    if (!by_rule || decision.rule->source == protocol::RuleSource::execution) {
        execution_id_ = std::move(execution_id);
    }
    if (decision.edited) {
        take_edited(judged->request, std::get<gate::HttpRequest>(decision.action));
    }
}

Task<void> RequestRelay::put_in_secrets(Judged* judged) {
    const std::vector<std::string> names = secret_names(judged->injections);
    if (names.empty()) {
        co_return;
    }
    std::map<std::string, std::string> values;
    std::vector<MaskedValue> masked;
    for (const std::string& name : names) {
        std::string value = co_await connector_.secret_value(name, endpoint_);
        masked.push_back({name, value});
        values.emplace(name, std::move(value));
    }
    RequestHead& head = judged->request.head;
    // A coded answer could not be searched for the value.
    head.set("accept-encoding", "identity");
    if (!only_sign(judged->injections)) {
        for (const std::string_view name : asking_for_a_part) {
            head.erase(name);
        }
    }
    inject(judged->request, authority_of(endpoint_, tls_), judged->cleared, judged->injections, values);
    judged->mask = std::make_shared<const SecretMask>(masked);
}

Task<void> RequestRelay::open_server(bool may_reuse) {
    if (server_ && may_reuse && !server_->peer_gone() && server_in_.empty() &&
        clock_.now() - server_idle_since_ < server_idle_limit) {
        server_is_reused_ = true;
        co_return;
    }
    if (server_) {
        server_->abort();
    }
    server_is_reused_ = false;
    server_in_.clear();
    server_ = co_await connector_.connect_inspected(endpoint_, tls_);
}

Task<void> RequestRelay::send(Judged* judged, MessageBody* body) {
    RequestToJudge& request = judged->request;
    RequestHead head = request.head;
    head.erase("host");
    head.fields.emplace(head.fields.begin(), "host", authority_of(endpoint_, tls_));
    head.minor_version = 1;
    if (request.complete) {
        head.erase("transfer-encoding");
        head.erase("content-length");
        if (!request.body.empty() || request.head.single("content-length") ||
            request.head.single("transfer-encoding")) {
            head.set("content-length", fmt::format("{}", request.body.size()));
        }
    }
    if (request.opens_web_socket) {
        head.set("connection", "Upgrade");
        head.set("upgrade", "websocket");
    }
    std::string bytes = to_text(head);
    if (request.complete) {
        bytes += request.body;
    }
    co_await to_server(std::move(bytes));
    if (request.complete) {
        co_return;
    }
    const bool chunked = body->is_chunked();
    std::string content = std::move(request.body);
    while (true) {
        if (!content.empty()) {
            std::string piece = chunked ? chunk_of(content) : std::move(content);
            co_await to_server(std::move(piece));
        }
        if (body->ended()) {
            break;
        }
        if (in_.empty()) {
            in_ = co_await client_->read();
            if (in_.empty()) {
                throw Error(ErrorCode::invalid_request, "the connection ended before its request was complete");
            }
        }
        content = take_in(*body);
    }
    if (chunked) {
        co_await to_server("0\r\n\r\n");
    }
}

// Masked before it is read: names lose their case, and errors quote it.
Task<std::optional<RequestRelay::Ended>> RequestRelay::while_client_stays(Task<Ended> work) {
    watched_.reset();
    const std::shared_ptr<CancelState> watching = tasks_.spawn(watch_client());
    co_return co_await finally(unless(&client_gone_, std::move(work)), stop_watching(watching));
}

// A client that goes withdraws its question. One that only says nothing more, as plain text allows, cannot be told from
// it: it waits for its answer.
Task<void> RequestRelay::watch_client() {
    bool gone = false;
    try {
        while (!gone && in_.size() < max_waiting_bytes) {
            const std::string bytes = co_await client_->read();
            in_ += bytes;
            gone = bytes.empty();
        }
    } catch (const Error& error) { // cancelled, most likely
        gone = error.code != ErrorCode::request_cancelled;
    }
    if (gone && tls_) {
        client_gone_.set();
    }
    last_request_ = last_request_ || gone;
    watched_.set();
}

// There is one reader at a time.
Task<void> RequestRelay::stop_watching(std::shared_ptr<CancelState> watching) {
    watching->cancel();
    co_await watched_.wait();
}

Task<void> RequestRelay::to_client(std::string bytes) {
    client_->write(std::move(bytes));
    co_await client_->drained(max_queued_bytes);
}

Task<void> RequestRelay::to_server(std::string bytes) {
    sent_ += static_cast<std::int64_t>(bytes.size());
    server_->write(std::move(bytes));
    co_await server_->drained(max_queued_bytes);
}

} // namespace cellgate::egress
