#include "async/zmq_socket.hpp"

#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "base/sync.hpp"
#include "socket_address.hpp"
#include "socket_path.hpp"
#include "uv_handle.hpp"
#include "zmtp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <utility>

namespace cellgate::async {

namespace {

constexpr std::string_view unix_scheme = "ipc://";
constexpr std::string_view tcp_scheme = "tcp://";
constexpr std::uint64_t reconnect_milliseconds = 3;
constexpr std::uint64_t tcp_reconnect_milliseconds = 100;
constexpr std::size_t max_frames = 4096; // of one message; a signed Jupyter message has seven and its buffers
// The default limit of bytes that wait for receive().
constexpr std::size_t default_max_waiting_bytes = std::size_t{64} << 20;
constexpr std::size_t max_waiting_messages = 10'000;
// Frames and commands that are processed before other handles get their turn.
constexpr int max_per_turn = 2048;
// PONGs that are sent in one turn. A peer that asks for more, or does not read them, gets no more.
constexpr std::size_t max_pong_bytes = 4096;

// The buffer that libuv reads into, unless a frame provides one. It is consumed before the next read.
std::array<char, std::size_t{128} << 10> scratch;

// Small frames cost more than their bytes.
std::size_t memory_of(const ZmqMessage& message) {
    std::size_t size = sizeof(ZmqMessage);
    for (const std::string& frame : message) {
        size += sizeof(std::string) + frame.size();
    }
    return size;
}

} // namespace

struct ZmqSocket::Impl : std::enable_shared_from_this<ZmqSocket::Impl> {
    struct Write {
        uv_write_t request{};
        std::string bytes;
        std::shared_ptr<Impl> socket;
    };

    Impl(Loop& loop, ZmqType type_, std::string identity_, std::size_t max_message_bytes)
        : uv(loop.raw()), type(type_), identity(std::move(identity_)), limits{max_message_bytes, max_frames} {}

    void open();
    void try_connect();
    void connected(int status);
    void read_on();
    void stop_reading();
    void received(ssize_t count, const uv_buf_t& buffer);
    void take(std::string_view bytes);
    void take_rest_next_turn();
    void answer(ZmtpArrival arrival, std::string& pongs);
    void write(std::string bytes);
    void disconnect();
    void close_connection();
    void close();
    uv_stream_t* stream() { return &handle.stream; }
    bool has_room() const { return waiting_bytes < max_waiting_bytes && incoming.size() < max_waiting_messages; }

    static Task<ZmqMessage> receive(std::shared_ptr<Impl> self);

    uv_loop_t* uv;
    ZmqType type;
    std::string identity;
    ZmtpLimits limits;
    std::string path;                     // of a unix socket
    std::optional<SocketAddress> address; // or of TCP
    bool closes_with_peer = false;
    uv_timer_t again{}; // until the next try
    uv_idle_t turn{};   // until the next turn, when `rest` exceeded the limit of one turn
    bool closed = false;

    // The current attempt, and the connection that it makes.
    uv_any_handle handle{}; // a pipe or TCP
    uv_connect_t attempt{};
    bool handle_is_open = false;
    std::optional<ZmtpDecoder> decoder; // while there is a connection
    bool reading = false;
    bool sending = false; // the peer is ready and reads
    std::string rest;     // read and not processed yet; nothing more is read meanwhile

    std::deque<std::string> outgoing; // waits for a peer
    std::deque<ZmqMessage> incoming;
    std::size_t waiting_bytes = 0;
    std::size_t max_waiting_bytes = default_max_waiting_bytes;
    Condition arrived;
    std::uint64_t violations = 0;
};

void ZmqSocket::Impl::open() {
    uv_timer_init(uv, &again);
    adopt(again, shared_from_this());
    uv_idle_init(uv, &turn);
    adopt(turn, shared_from_this());
}

void ZmqSocket::Impl::try_connect() {
    const uv_connect_cb on_connected = [](uv_connect_t* request, int status) {
        owner_of<Impl>(static_cast<uv_stream_t*>(request->data))->connected(status);
    };
    attempt.data = stream();
    if (address) {
        uv_tcp_init(uv, &handle.tcp);
    } else {
        uv_pipe_init(uv, &handle.pipe, 0);
    }
    adopt(handle.stream, shared_from_this());
    handle_is_open = true;
    if (!address) {
        uv_pipe_connect(&attempt, &handle.pipe, path.c_str(), on_connected);
    } else if (uv_tcp_connect(&attempt, &handle.tcp, address->raw(), on_connected) != 0) {
        disconnect();
    }
}

void ZmqSocket::Impl::connected(int status) {
    if (closed) {
        return;
    }
    if (status != 0) {
        disconnect();
        return;
    }
    if (address) {
        uv_tcp_nodelay(&handle.tcp, 1);
    }
    decoder.emplace(type, identity, limits);
    write(zmtp_greeting());
    read_on();
}

// Closes the connection, if any, and tries again. The old handle is closed before the timer can fire: libuv ends a turn
// with closing, and begins one with timers.
void ZmqSocket::Impl::disconnect() {
    if (closes_with_peer && decoder) {
        close();
        return;
    }
    close_connection();
    uv_timer_start(
        &again, [](uv_timer_t* timer) { owner_of<Impl>(timer)->try_connect(); },
        address ? tcp_reconnect_milliseconds : reconnect_milliseconds, 0);
}

void ZmqSocket::Impl::close_connection() {
    if (std::exchange(handle_is_open, false)) {
        close_handle<Impl>(handle.stream);
    }
    uv_idle_stop(&turn);
    decoder.reset();
    reading = false;
    sending = false;
    rest = {};
}

void ZmqSocket::Impl::close() {
    if (std::exchange(closed, true)) {
        return;
    }
    close_connection();
    close_handle<Impl>(again);
    close_handle<Impl>(turn);
    outgoing.clear();
    incoming.clear();
    arrived.notify();
}

void ZmqSocket::Impl::read_on() {
    if (std::exchange(reading, true)) {
        return;
    }
    uv_read_start(
        stream(),
        [](uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
            const std::span<char> space = owner_of<Impl>(handle)->decoder->space();
            *buffer = space.empty() ? uv_buf_init(scratch.data(), scratch.size())
                                    : uv_buf_init(space.data(), static_cast<unsigned>(space.size()));
        },
        [](uv_stream_t* handle, ssize_t count, const uv_buf_t* buffer) {
            owner_of<Impl>(handle)->received(count, *buffer);
        });
}

void ZmqSocket::Impl::stop_reading() {
    if (std::exchange(reading, false)) {
        uv_read_stop(stream());
    }
}

void ZmqSocket::Impl::received(ssize_t count, const uv_buf_t& buffer) {
    if (count < 0) {
        disconnect();
    } else if (buffer.base == scratch.data()) {
        take({scratch.data(), static_cast<std::size_t>(count)});
    } else {
        decoder->filled(static_cast<std::size_t>(count));
        take({});
    }
}

// Processes these bytes as far as the buffers and the limit of one turn allow; at most as many as fit into `scratch`.
void ZmqSocket::Impl::take(std::string_view bytes) {
    const std::size_t before = incoming.size();
    try {
        std::string pongs;
        bool all_taken = false;
        for (int i = 0; i < max_per_turn && has_room() && !all_taken; ++i) {
            std::optional<ZmtpArrival> arrival = decoder->next(bytes);
            all_taken = !arrival;
            if (arrival) {
                answer(std::move(*arrival), pongs);
            }
        }
        if (!pongs.empty()) {
            write(std::move(pongs));
        }
        if (all_taken) {
            read_on();
        } else {
            stop_reading();
            rest = bytes;
            if (has_room()) {
                take_rest_next_turn();
            }
        }
    } catch (const Error& error) {
        if (std::has_single_bit(++violations)) {
            log_warning("ended a ZeroMQ connection ({} so far): {}", violations, error.message);
        }
        disconnect();
    }
    if (incoming.size() > before) {
        arrived.notify(); // last: a woken waiter may close this socket
    }
}

void ZmqSocket::Impl::take_rest_next_turn() {
    uv_idle_start(&turn, [](uv_idle_t* handle) {
        uv_idle_stop(handle);
        const std::shared_ptr<Impl> self = owner_of<Impl>(handle);
        const std::string bytes = std::exchange(self->rest, {});
        self->take(bytes);
    });
}

void ZmqSocket::Impl::answer(ZmtpArrival arrival, std::string& pongs) {
    switch (arrival.kind) {
    case ZmtpArrival::Kind::greeting:
        write(std::move(arrival.answer));
        break;
    case ZmtpArrival::Kind::ready:
        sending = true;
        if (!arrival.answer.empty()) {
            write(std::move(arrival.answer));
        }
        while (sending && !outgoing.empty()) {
            std::string message = std::move(outgoing.front());
            outgoing.pop_front();
            write(std::move(message));
        }
        break;
    case ZmtpArrival::Kind::ping:
        if (pongs.size() < max_pong_bytes && uv_stream_get_write_queue_size(stream()) == 0) {
            pongs += arrival.answer;
        }
        break;
    case ZmtpArrival::Kind::message:
        waiting_bytes += memory_of(arrival.message);
        incoming.push_back(std::move(arrival.message));
        break;
    case ZmtpArrival::Kind::other:
        break;
    }
}

void ZmqSocket::Impl::write(std::string bytes) {
    uv_buf_t buffer = uv_buf_init(bytes.data(), static_cast<unsigned>(bytes.size()));
    int status = uv_try_write(stream(), &buffer, 1);
    if (status == static_cast<int>(bytes.size())) {
        return;
    }
    if (status >= 0 || status == UV_EAGAIN) {
        bytes.erase(0, static_cast<std::size_t>(std::max(status, 0)));
        auto* write = new Write{{}, std::move(bytes), shared_from_this()};
        write->request.data = write;
        buffer = uv_buf_init(write->bytes.data(), static_cast<unsigned>(write->bytes.size()));
        status = uv_write(&write->request, stream(), &buffer, 1, [](uv_write_t* request, int written) {
            const std::unique_ptr<Write> done(static_cast<Write*>(request->data));
            done->socket->sending = done->socket->sending && written == 0;
        });
        if (status == 0) {
            return;
        }
        delete write;
    }
    sending = false; // the peer is gone; read() reports that after all that it had sent
}

Task<ZmqMessage> ZmqSocket::Impl::receive(std::shared_ptr<Impl> self) {
    const auto arrived = [&self] { return !self->incoming.empty() || self->closed; };
    co_await self->arrived.until(arrived);
    if (self->incoming.empty()) {
        throw Error(ErrorCode::internal_error, "the ZeroMQ socket is closed");
    }
    const bool had_room = self->has_room();
    ZmqMessage message = std::move(self->incoming.front());
    self->incoming.pop_front();
    self->waiting_bytes -= memory_of(message);
    if (!had_room && self->has_room() && self->decoder) {
        self->take_rest_next_turn();
    }
    co_return message;
}

ZmqSocket::ZmqSocket(Loop& loop, ZmqType type, std::string identity, std::size_t max_message_bytes)
    : impl_(std::make_shared<Impl>(loop, type, std::move(identity), max_message_bytes)) {
    impl_->open();
}

ZmqSocket::~ZmqSocket() {
    close();
}

void ZmqSocket::leave_with_sender(std::size_t above_bytes) {
    impl_->max_waiting_bytes = above_bytes;
}

void ZmqSocket::close_with_peer() {
    impl_->closes_with_peer = true;
}

void ZmqSocket::connect(const std::string& endpoint) {
    std::optional<Endpoint> tcp;
    if (endpoint.starts_with(tcp_scheme)) {
        tcp = parse_endpoint(endpoint.substr(tcp_scheme.size()), std::nullopt);
    }
    if (!tcp && !endpoint.starts_with(unix_scheme)) {
        throw Error(ErrorCode::internal_error,
                    fmt::format("expected ipc:///path or tcp://address:port, found {}", escape_unprintable(endpoint)));
    }
    if (impl_->closed) {
        throw Error(ErrorCode::internal_error, "the ZeroMQ socket is closed");
    }
    if (tcp) {
        impl_->address = address_of(*tcp);
    } else {
        impl_->path = endpoint.substr(unix_scheme.size());
        require_socket_path(impl_->path);
    }
    impl_->try_connect();
}

void ZmqSocket::send(ZmqMessage message) {
    if (impl_->closed || message.empty()) {
        return;
    }
    std::string bytes = zmtp_message(message);
    if (impl_->sending) {
        impl_->write(std::move(bytes));
    } else {
        impl_->outgoing.push_back(std::move(bytes));
    }
}

Task<ZmqMessage> ZmqSocket::receive() {
    return Impl::receive(impl_);
}

void ZmqSocket::close() {
    impl_->close();
}

} // namespace cellgate::async
