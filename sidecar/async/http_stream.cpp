// HttpClient::connect(): curl makes the connection, and its bytes are ours.

#include "base/escape_unprintable.hpp"
#include "http_client_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace cellgate::async {

namespace {

constexpr std::size_t read_bytes = std::size_t{64} << 10;

using Connection = std::shared_ptr<HttpExchange::Transfer>;

struct ConnectionPoll {
    uv_poll_t handle{};
    Event ready;
    bool readable = false;
    std::string buffer = std::string(read_bytes, '\0');
    std::string unsent; // from `sent` on
    std::size_t sent = 0;
    Event sending; // some of it was sent, or will never be
    bool closed = false;
    std::optional<Error> error;
    Connection connection;

    bool is_open() const {
        const std::shared_ptr<HttpClient::Impl> client = connection->client.lock();
        return !closed && client && client->multi != nullptr;
    }
    // Sends as much as the system takes.
    void send() {
        while (sent < unsent.size() && is_open()) {
            std::size_t taken = 0;
            const CURLcode result = CurlLibrary::get().easy_send(connection->easy.get(), unsent.data() + sent,
                                                                 unsent.size() - sent, &taken);
            if (result == CURLE_AGAIN) {
                break;
            }
            if (result != CURLE_OK) {
                fail(result);
                break;
            }
            sent += taken;
        }
        if (sent == unsent.size()) {
            unsent.clear();
            sent = 0;
        }
        watch();
        sending.set();
    }
    void fail(CURLcode result) {
        if (!error) {
            error = Error(ErrorCode::internal_error,
                          fmt::format("the connection to {} was cut: {}", connection->host,
                                      escape_unprintable(CurlLibrary::get().easy_strerror(result))));
        }
        unsent.clear();
        sent = 0;
        readable = true;
        ready.set();
    }
    void watch() {
        if (closed || error) {
            return;
        }
        const int events = (readable ? 0 : UV_READABLE) | (unsent.empty() ? 0 : UV_WRITABLE);
        if (events == 0) {
            uv_poll_stop(&handle);
            return;
        }
        uv_poll_start(&handle, events, [](uv_poll_t* raw, int status, int events) {
            const std::shared_ptr<ConnectionPoll> poll = owner_of<ConnectionPoll>(raw);
            if (status < 0 || (events & UV_READABLE) != 0) {
                poll->readable = true;
                poll->ready.set();
            }
            if (status < 0 || (events & UV_WRITABLE) != 0) {
                poll->send();
            } else {
                poll->watch();
            }
        });
    }
};

// A connection that nothing reads yet.
struct UnfinishedConnection {
    Connection connection;
    ~UnfinishedConnection() {
        const auto client = connection ? connection->client.lock() : nullptr;
        if (client && client->multi != nullptr) {
            client->remove(connection);
        }
    }
};

class HttpStream final : public ByteStream {
  public:
    HttpStream(Loop& loop, Connection connection, curl_socket_t socket)
        : poll_(std::make_shared<ConnectionPoll>()), socket_(socket) {
        poll_->connection = std::move(connection);
        uv_poll_init_socket(loop.raw(), &poll_->handle, socket);
        adopt(poll_->handle, poll_);
        poll_->watch();
    }
    ~HttpStream() override { close(); }

    Task<std::string> read() override {
        const std::shared_ptr<ConnectionPoll> poll = poll_;
        while (poll->is_open()) {
            // The server may wait for an acknowledgement before it sends the rest of an answer (Nagle), and the system
            // delays those by 40 ms unless it is asked each time.
            const int now = 1;
            ::setsockopt(socket_, IPPROTO_TCP, TCP_QUICKACK, &now, sizeof now);
            std::size_t count = 0;
            // TLS may hold bytes that the socket does not: read until there are none.
            const CURLcode result = CurlLibrary::get().easy_recv(poll->connection->easy.get(), poll->buffer.data(),
                                                                 poll->buffer.size(), &count);
            if (result == CURLE_OK) {
                co_return poll->buffer.substr(0, count);
            }
            if (result != CURLE_AGAIN) {
                poll->fail(result);
            }
            if (poll->error) {
                throw Error(*poll->error);
            }
            poll->ready.reset();
            poll->readable = false;
            poll->watch();
            co_await poll->ready.wait();
        }
        co_return std::string();
    }

    void write(std::string bytes) override {
        if (poll_->closed || poll_->error) {
            return;
        }
        poll_->unsent += bytes;
        poll_->send();
    }

    std::size_t write_queue_size() const override { return poll_->unsent.size() - poll_->sent; }

    Task<void> drained(std::size_t below) override {
        const std::shared_ptr<ConnectionPoll> poll = poll_;
        while (poll->unsent.size() - poll->sent > below && poll->is_open()) {
            poll->sending.reset();
            co_await poll->sending.wait();
        }
    }

    void close() override {
        if (std::exchange(poll_->closed, true)) {
            return;
        }
        // What the peer has not received by now it never gets: what it held may have been sent again by then.
        const linger none{1, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &none, sizeof none);
        close_handle<ConnectionPoll>(poll_->handle);
        if (const auto client = poll_->connection->client.lock(); client && client->multi != nullptr) {
            client->remove(poll_->connection);
        }
        poll_->connection->easy.reset(); // closes the connection
        poll_->ready.set();
        poll_->sending.set();
    }

  private:
    std::shared_ptr<ConnectionPoll> poll_;
    curl_socket_t socket_;
};

} // namespace

Task<std::unique_ptr<ByteStream>> HttpClient::connect(std::string url) {
    const std::shared_ptr<Impl> impl = impl_;
    const Connection connection = make_transfer(url, {});
    connection->client = impl;
    connection->connects_only = true;
    const auto set = [&connection](CURLoption option, long value) {
        CurlLibrary::get().easy_setopt(connection->easy.get(), option, value);
    };
    set(CURLOPT_CONNECT_ONLY, 1L);
    set(CURLOPT_SSL_ENABLE_ALPN, 0L); // HTTP/2 would be another protocol
    set(CURLOPT_HTTPPROXYTUNNEL, 1L);
    set(CURLOPT_FRESH_CONNECT, 1L);
    impl->add(connection);
    UnfinishedConnection unfinished{connection};
    while (!connection->ended) {
        connection->changed.reset();
        co_await connection->changed.wait();
    }
    if (connection->error) {
        throw Error(*connection->error);
    }
    curl_socket_t socket = -1;
    CurlLibrary::get().easy_getinfo(connection->easy.get(), CURLINFO_ACTIVESOCKET, &socket);
    if (socket == -1) {
        throw Error(ErrorCode::internal_error, fmt::format("cannot reach {}: it has no socket", connection->host));
    }
    std::unique_ptr<ByteStream> stream = std::make_unique<HttpStream>(impl->loop, connection, socket);
    unfinished.connection.reset();
    co_return stream;
}

} // namespace cellgate::async
