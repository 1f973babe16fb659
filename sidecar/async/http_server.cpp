#include "async/http_server.hpp"

#include "base/log.hpp"
#include "base/sync.hpp"
#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "listen_at.hpp"
#include "microhttpd_library.hpp"
#include "request_clock.hpp"
#include "uv_handle.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <fcntl.h>
#include <map>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cellgate::async {

namespace {

constexpr std::size_t max_untaken_bytes = std::size_t{256} << 10; // of a stream; write() waits beyond it
constexpr std::size_t stream_block_bytes = std::size_t{16} << 10;

using ClockPointer = std::shared_ptr<RequestClock>;

RequestClock& clock_of(MHD_Connection* connection) {
    const MHD_ConnectionInfo* info =
        MicrohttpdLibrary::get().get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return **static_cast<ClockPointer*>(info->socket_context);
}

int fd_of(MHD_Connection* connection) {
    return MicrohttpdLibrary::get().get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

struct ResponseDelete {
    void operator()(MHD_Response* response) const { MicrohttpdLibrary::get().destroy_response(response); }
};
using ResponsePointer = std::unique_ptr<MHD_Response, ResponseDelete>;

MHD_Result queue(MHD_Connection* connection, int status, const HttpFields& fields, const ResponsePointer& response) {
    for (const auto& [name, value] : fields) {
        MicrohttpdLibrary::get().add_response_header(response.get(), name.c_str(), value.c_str());
    }
    return MicrohttpdLibrary::get().queue_response(connection, static_cast<unsigned>(status), response.get());
}

MHD_Result queue_reply(MHD_Connection* connection, const ServedReply& reply) {
    const ResponsePointer response(MicrohttpdLibrary::get().create_response_from_buffer(
        reply.body.size(), const_cast<char*>(reply.body.data()), MHD_RESPMEM_MUST_COPY));
    return queue(connection, reply.status, reply.fields, response);
}

} // namespace

std::optional<std::string> ServedRequest::only(std::string_view name) const {
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

// libmicrohttpd's callbacks only keep what comes; handlers start, and those who wait are woken, once it has returned.
struct HttpResponder::Exchange : std::enable_shared_from_this<HttpResponder::Exchange> {
    std::weak_ptr<HttpServer::Impl> server;
    MHD_Connection* connection = nullptr; // until it is completed
    ServedRequest request;
    bool complete = false; // the request is
    bool suspended = false;
    std::optional<ServedReply> reply;
    std::optional<HttpFields> stream;
    std::string written; // of the stream
    std::size_t taken = 0;
    bool ended = false;
    bool gone = false;
    std::function<void()> on_gone;
    Condition changed;
    uv_poll_t watch{};
    UniqueFd watched; // the connection's socket: libmicrohttpd does not look at a suspended one

    void suspend() {
        suspended = true;
        MicrohttpdLibrary::get().suspend_connection(connection);
    }
    void resume();
    void watch_end(uv_loop_t* loop);
    void stop_watching() {
        if (watched.valid()) {
            close_handle<Exchange>(watch);
            watched.reset();
        }
    }
    void mark_gone();
    MHD_Result respond();
    ssize_t take(char* buffer, std::size_t size);
};

struct HttpServer::Impl : std::enable_shared_from_this<HttpServer::Impl> {
    using Exchange = HttpResponder::Exchange;

    Impl(Loop& loop_, HttpServerOptions options_)
        : loop(loop_), options(std::move(options_)), listening(listen_at(options.endpoint)) {}

    void open();
    void start_daemon();
    void run();
    void run_after(std::uint64_t milliseconds);
    MHD_Result begin(MHD_Connection* connection, const char* path, const char* method, void** slot);
    MHD_Result take_body(Exchange& exchange, const char* bytes, std::size_t* size) const;
    MHD_Result complete(const std::shared_ptr<Exchange>& exchange);
    void on_connection(MHD_Connection* connection, void** slot, MHD_ConnectionNotificationCode what);
    void on_completed(MHD_Connection* connection, void** slot, MHD_RequestTerminationCode how);
    static Task<void> serve(std::shared_ptr<Impl> self, std::shared_ptr<Exchange> exchange);

    Loop& loop;
    HttpServerOptions options;
    UniqueFd listening; // until the daemon has it
    HttpHandler* handler = nullptr;
    MHD_Daemon* daemon = nullptr;
    std::string words; // of libmicrohttpd's last message
    uv_poll_t poll{};
    uv_timer_t timer{};
    std::map<Exchange*, std::shared_ptr<Exchange>> exchanges; // that are complete and not completed
    std::vector<std::shared_ptr<Exchange>> arrived;
    std::vector<std::shared_ptr<Exchange>> news;
    bool has_room = false; // a connection has closed
    TaskScope tasks;
};

// ---- An exchange ----------------------------------------------------------------------------------------------------

void HttpResponder::Exchange::resume() {
    const std::shared_ptr<HttpServer::Impl> owner = server.lock();
    if (owner && connection != nullptr && std::exchange(suspended, false)) {
        MicrohttpdLibrary::get().resume_connection(connection);
        owner->run_after(0);
    }
}

void HttpResponder::Exchange::watch_end(uv_loop_t* loop) {
    watched.reset(::fcntl(fd_of(connection), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!watched.valid() || uv_poll_init(loop, &watch, watched.get()) != 0) {
        watched.reset(); // the end is noticed when something is sent
        return;
    }
    adopt(watch, shared_from_this());
    uv_poll_start(&watch, UV_DISCONNECT, [](uv_poll_t* handle, int, int) {
        const std::shared_ptr<Exchange> self = owner_of<Exchange>(handle);
        self->stop_watching();
        self->mark_gone();
        self->resume();
    });
}

void HttpResponder::Exchange::mark_gone() {
    if (std::exchange(gone, true)) {
        return;
    }
    changed.notify();
    if (const std::function<void()> callback = std::exchange(on_gone, nullptr); callback && !ended) {
        callback();
    }
}

MHD_Result HttpResponder::Exchange::respond() {
    if (gone) {
        return MHD_NO;
    }
    if (reply) {
        return queue_reply(connection, *reply);
    }
    if (!stream) {
        suspend();
        return MHD_YES;
    }
    const auto taker = [](void* self, std::uint64_t, char* buffer, std::size_t size) {
        return (*static_cast<std::shared_ptr<Exchange>*>(self))->take(buffer, size);
    };
    const auto release = [](void* self) { delete static_cast<std::shared_ptr<Exchange>*>(self); };
    const ResponsePointer response(MicrohttpdLibrary::get().create_response_from_callback(
        MHD_SIZE_UNKNOWN, stream_block_bytes, taker, new std::shared_ptr<Exchange>(shared_from_this()), release));
    return queue(connection, MHD_HTTP_OK, *stream, response);
}

ssize_t HttpResponder::Exchange::take(char* buffer, std::size_t size) {
    const std::shared_ptr<HttpServer::Impl> owner = server.lock();
    if (gone || !owner) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (taken == written.size()) {
        if (ended) {
            return MHD_CONTENT_READER_END_OF_STREAM;
        }
        suspend();
        return 0;
    }
    const std::size_t copied = written.copy(buffer, size, taken);
    taken += copied;
    if (2 * taken >= written.size()) {
        written.erase(0, std::exchange(taken, 0));
    }
    owner->news.push_back(shared_from_this());
    return static_cast<ssize_t>(copied);
}

HttpResponder::HttpResponder(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}

void HttpResponder::reply(ServedReply reply) {
    exchange_->reply = std::move(reply);
    exchange_->ended = true;
    exchange_->resume();
}

void HttpResponder::begin_stream(HttpFields fields) {
    exchange_->stream = std::move(fields);
    exchange_->resume();
}

Task<void> HttpResponder::write(std::string bytes) {
    const std::shared_ptr<Exchange> exchange = exchange_;
    if (exchange->gone) {
        co_return;
    }
    exchange->written += bytes;
    exchange->resume();
    const auto is_taken = [&exchange] {
        return exchange->gone || exchange->written.size() - exchange->taken <= max_untaken_bytes;
    };
    co_await exchange->changed.until(is_taken);
}

void HttpResponder::end() {
    exchange_->ended = true;
    exchange_->resume();
}

bool HttpResponder::is_gone() const {
    return exchange_->gone;
}

void HttpResponder::on_gone(std::function<void()> callback) {
    exchange_->on_gone = std::move(callback);
}

// ---- What libmicrohttpd calls ---------------------------------------------------------------------------------------

MHD_Result HttpServer::Impl::begin(MHD_Connection* connection, const char* path, const char* method, void** slot) {
    const auto exchange = std::make_shared<Exchange>();
    exchange->server = weak_from_this();
    exchange->connection = connection;
    exchange->request.method = method;
    exchange->request.path = path;
    MicrohttpdLibrary::get().get_connection_values_n(
        connection, MHD_HEADER_KIND,
        [](void* into, MHD_ValueKind, const char* name, std::size_t name_size, const char* value,
           std::size_t value_size) {
            const std::string_view text(value == nullptr ? "" : value, value == nullptr ? 0 : value_size);
            static_cast<HttpFields*>(into)->emplace_back(lower({name, name_size}), trim(text));
            return MHD_YES;
        },
        &exchange->request.fields);
    *slot = new std::shared_ptr<Exchange>(exchange);
    const std::string length = exchange->request.only("content-length").value_or("0");
    std::size_t bytes = 0;
    const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bytes);
    exchange->reply = handler->refuse(exchange->request);
    if (error != std::errc() || bytes > options.max_body_bytes) {
        return queue_reply(connection, ServedReply{MHD_HTTP_CONTENT_TOO_LARGE});
    }
    return MHD_YES;
}

// The body of a refused request is read and dropped: many clients read no answer before they have sent it.
MHD_Result HttpServer::Impl::take_body(Exchange& exchange, const char* bytes, std::size_t* size) const {
    if (!exchange.reply && exchange.request.body.size() + *size > options.max_body_bytes) {
        exchange.reply = ServedReply{MHD_HTTP_CONTENT_TOO_LARGE};
    }
    if (!exchange.reply) {
        exchange.request.body.append(bytes, *size);
    }
    *size = 0;
    return MHD_YES;
}

MHD_Result HttpServer::Impl::complete(const std::shared_ptr<Exchange>& exchange) {
    if (!std::exchange(exchange->complete, true)) {
        clock_of(exchange->connection).stop();
        if (!exchange->reply) {
            exchanges.emplace(exchange.get(), exchange);
            exchange->watch_end(loop.raw());
            arrived.push_back(exchange);
        }
    }
    return exchange->respond();
}

void HttpServer::Impl::on_connection(MHD_Connection* connection, void** slot, MHD_ConnectionNotificationCode what) {
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const auto clock = std::make_shared<RequestClock>();
        clock->fd = fd_of(connection);
        uv_timer_init(loop.raw(), &clock->timer);
        adopt(clock->timer, clock);
        clock->start(options.request_seconds);
        *slot = new ClockPointer(clock);
        return;
    }
    const std::unique_ptr<ClockPointer> clock(static_cast<ClockPointer*>(std::exchange(*slot, nullptr)));
    close_handle<RequestClock>((*clock)->timer);
    has_room = true;
}

void HttpServer::Impl::on_completed(MHD_Connection* connection, void** slot, MHD_RequestTerminationCode how) {
    clock_of(connection).start(options.idle_seconds);
    const std::unique_ptr<std::shared_ptr<Exchange>> owner(
        static_cast<std::shared_ptr<Exchange>*>(std::exchange(*slot, nullptr)));
    if (!owner) {
        return; // the head was not understood
    }
    const std::shared_ptr<Exchange>& exchange = *owner;
    exchange->connection = nullptr;
    exchange->stop_watching();
    exchanges.erase(exchange.get());
    if (how != MHD_REQUEST_TERMINATED_COMPLETED_OK) {
        news.push_back(exchange);
    }
}

// ---- The loop -------------------------------------------------------------------------------------------------------

void HttpServer::Impl::open() {
    start_daemon();
    const int epoll = MicrohttpdLibrary::get().get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    uv_poll_init(loop.raw(), &poll, epoll);
    adopt(poll, shared_from_this());
    uv_timer_init(loop.raw(), &timer);
    adopt(timer, shared_from_this());
    uv_poll_start(&poll, UV_READABLE, [](uv_poll_t* handle, int, int) { owner_of<Impl>(handle)->run(); });
}

void HttpServer::Impl::start_daemon() {
    const auto log = [](void* self, const char* format, va_list arguments) {
        std::array<char, 200> text{};
        std::vsnprintf(text.data(), text.size(), format, arguments);
        static_cast<Impl*>(self)->words = text.data();
    };
    const auto log_function = static_cast<void (*)(void*, const char*, va_list)>(log);
    const auto begun = [](void* self, const char*, MHD_Connection* connection) -> void* {
        clock_of(connection).start(static_cast<Impl*>(self)->options.request_seconds);
        return nullptr;
    };
    const auto begun_function = static_cast<void* (*)(void*, const char*, MHD_Connection*)>(begun);
    const auto access = [](void* self, MHD_Connection* connection, const char* path, const char* method, const char*,
                           const char* bytes, std::size_t* size, void** slot) {
        auto* impl = static_cast<Impl*>(self);
        if (*slot == nullptr) {
            return impl->begin(connection, path, method, slot);
        }
        const std::shared_ptr<Exchange> exchange = *static_cast<std::shared_ptr<Exchange>*>(*slot);
        return *size > 0 ? impl->take_body(*exchange, bytes, size) : impl->complete(exchange);
    };
    const MHD_RequestCompletedCallback completed = [](void* self, MHD_Connection* connection, void** slot,
                                                      MHD_RequestTerminationCode how) {
        static_cast<Impl*>(self)->on_completed(connection, slot, how);
    };
    const MHD_NotifyConnectionCallback connected = [](void* self, MHD_Connection* connection, void** slot,
                                                      MHD_ConnectionNotificationCode what) {
        static_cast<Impl*>(self)->on_connection(connection, slot, what);
    };
    const auto function = [](auto* pointer) { return reinterpret_cast<std::intptr_t>(pointer); };
    std::vector<MHD_OptionItem> items = {
        {MHD_OPTION_EXTERNAL_LOGGER, function(log_function), this},
        {MHD_OPTION_LISTEN_SOCKET, listening.get(), nullptr},
        {MHD_OPTION_CONNECTION_LIMIT, static_cast<std::intptr_t>(options.max_connections), nullptr},
        {MHD_OPTION_CONNECTION_TIMEOUT, static_cast<std::intptr_t>(options.idle_seconds), nullptr},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, nullptr},
        {MHD_OPTION_URI_LOG_CALLBACK, function(begun_function), this},
        {MHD_OPTION_NOTIFY_COMPLETED, function(completed), this},
        {MHD_OPTION_NOTIFY_CONNECTION, function(connected), this}};
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    if (!options.certificate.empty()) {
        flags |= MHD_USE_TLS;
        items.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, options.certificate.data()});
        items.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, options.key.data()});
    }
    items.push_back({MHD_OPTION_END, 0, nullptr});
    daemon = MicrohttpdLibrary::get().start_daemon(flags, 0, nullptr, nullptr, access, this, MHD_OPTION_ARRAY,
                                                   items.data(), MHD_OPTION_END);
    if (daemon == nullptr) {
        throw Error(ErrorCode::internal_error, fmt::format("cannot serve HTTP: {}", trim(words)));
    }
    listening.release(); // the daemon's
}

void HttpServer::Impl::run() {
    const std::shared_ptr<Impl> self = shared_from_this();
    if (daemon == nullptr) {
        return;
    }
    MicrohttpdLibrary::get().run(daemon);
    uv_timer_stop(&timer);
    MHD_UNSIGNED_LONG_LONG milliseconds = 0;
    if (std::exchange(has_room, false)) {
        run_after(0); // only then it accepts again, if it had too many
    } else if (MicrohttpdLibrary::get().get_timeout(daemon, &milliseconds) == MHD_YES) {
        run_after(milliseconds);
    }
    for (const std::shared_ptr<Exchange>& exchange : std::exchange(arrived, {})) {
        tasks.spawn(serve(self, exchange));
    }
    for (const std::shared_ptr<Exchange>& exchange : std::exchange(news, {})) {
        if (exchange->connection == nullptr) {
            exchange->mark_gone();
        } else {
            exchange->changed.notify();
        }
    }
}

void HttpServer::Impl::run_after(std::uint64_t milliseconds) {
    uv_timer_start(&timer, [](uv_timer_t* handle) { owner_of<Impl>(handle)->run(); }, milliseconds, 0);
}

Task<void> HttpServer::Impl::serve(std::shared_ptr<Impl> self, std::shared_ptr<Exchange> exchange) {
    const auto responder = std::make_shared<HttpResponder>(exchange);
    std::exception_ptr cancelled;
    try {
        co_await self->handler->answer(std::move(exchange->request), responder);
    } catch (const Cancelled&) {
        cancelled = std::current_exception();
    } catch (const std::exception& error) {
        log_error("an HTTP request was not answered: {}", error.what());
    }
    if (exchange->stream) {
        responder->end();
    } else if (!exchange->reply) {
        responder->reply(ServedReply{MHD_HTTP_INTERNAL_SERVER_ERROR});
    }
    if (cancelled) {
        std::rethrow_exception(cancelled);
    }
}

HttpServer::HttpServer(Loop& loop, HttpServerOptions options)
    : impl_(std::make_shared<Impl>(loop, std::move(options))), port_(port_of(impl_->listening.get())) {}

HttpServer::~HttpServer() = default;

void HttpServer::serve(HttpHandler& handler) {
    impl_->handler = &handler;
    impl_->open();
}

Task<void> HttpServer::close() {
    const std::shared_ptr<Impl> impl = impl_;
    if (impl->daemon == nullptr) {
        co_return;
    }
    close_handle<Impl>(impl->poll);
    close_handle<Impl>(impl->timer);
    const auto open = impl->exchanges;
    for (const auto& [pointer, exchange] : open) {
        exchange->mark_gone();
    }
    impl->tasks.cancel();
    co_await impl->tasks.join();
    // A daemon with suspended connections cannot be stopped.
    for (const auto& [pointer, exchange] : open) {
        if (exchange->connection != nullptr && std::exchange(exchange->suspended, false)) {
            MicrohttpdLibrary::get().resume_connection(exchange->connection);
        }
    }
    MicrohttpdLibrary::get().stop_daemon(std::exchange(impl->daemon, nullptr));
    impl->news.clear();
}

} // namespace cellgate::async
