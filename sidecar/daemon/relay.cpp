#include "daemon/relay.hpp"

#include "base/environment.hpp"
#include "base/escape_unprintable.hpp"
#include "base/scope_exit.hpp"
#include "base/sync.hpp"
#include "daemon/stdio.hpp"
#include "protocol/connection.hpp"
#include "protocol/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <unistd.h>

namespace cellgate::daemon {

namespace {

// Of one direction; the system holds as much again.
constexpr std::size_t max_buffered_bytes = std::size_t{256} << 10;
// After the client's end of input: for the sidecar's remaining answers.
constexpr Duration answer_timeout = std::chrono::seconds(5);

// The last bytes from a client: `exit` is a short message, and the last one.
class InputTail {
  public:
    void add(const std::string& bytes) {
        constexpr std::size_t kept = 256;
        tail_ += bytes;
        tail_.erase(0, tail_.size() - std::min(tail_.size(), kept));
    }
    bool is_exit() const {
        const std::size_t headers_end = tail_.rfind("\r\n\r\n");
        if (headers_end == std::string::npos) {
            return false;
        }
        const std::string message = tail_.substr(headers_end + 4);
        try {
            return protocol::parse_message(message).method == "exit";
        } catch (const protocol::InvalidMessage&) {
            return false;
        }
    }

  private:
    std::string tail_;
};

struct Relay {
    InputTail input_tail;
    Event client_ended;
    Event sidecar_ended;
    Event either_ended;
};

Task<void> carry(ByteStream* from, ByteStream* to, InputTail* input_tail, Relay* relay, Event* ended) {
    const ScopeExit tell([relay, ended] {
        ended->set();
        relay->either_ended.set();
    });
    while (true) {
        std::string bytes = co_await from->read();
        if (bytes.empty()) {
            break;
        }
        if (input_tail != nullptr) {
            input_tail->add(bytes);
        }
        to->write(std::move(bytes));
        co_await to->drained(max_buffered_bytes);
    }
}

// Until both directions have ended, or the sidecar answers no more. Returns whether it ended before its client.
Task<bool> carry_on(async::Loop* loop, async::UnixStream* sidecar, Relay* relay) {
    co_await relay->either_ended.wait();
    if (!relay->client_ended.is_set()) {
        co_return !relay->input_tail.is_exit();
    }
    sidecar->close_output();
    const Instant deadline = loop->clock().now() + answer_timeout;
    co_await wait_until(loop->clock(), relay->sidecar_ended, deadline);
    co_return false;
}

Task<void> answer_first(protocol::Connection* connection, Error error) {
    const std::optional<protocol::Frame> first = co_await connection->receive();
    if (first && first->problem.empty()) {
        try {
            const protocol::Message message = protocol::parse_message(first->text);
            if (message.kind == protocol::Message::Kind::request) {
                connection->send(protocol::error_text(message.id, error));
            }
        } catch (const protocol::InvalidMessage&) {
            // Nothing that could be answered.
        }
    }
    co_await connection->drained(0);
}

// Answers the first request, which is `initialize`, with why there is no sidecar: an editor shows that to its user,
// and does not try again by itself, as it does when the connection only ends.
Task<void> answer_with(async::Loop* loop, std::unique_ptr<ByteStream> client, Error error) {
    protocol::FramedConnection connection(std::move(client), protocol::Framing::content_length);
    co_await with_timeout(loop->clock(), answer_timeout, answer_first(&connection, std::move(error)));
    connection.close();
}

} // namespace

Task<void> relay_stdio(async::Loop* loop, WorkspaceSidecarOptions options, int* exit_code) {
    std::unique_ptr<ByteStream> client = take_stdio(*loop);
    InstancePaths paths;
    std::unique_ptr<async::UnixStream> sidecar;
    std::optional<Error> problem;
    try {
        paths = find_instance_paths(options.workspace, process_environment());
        sidecar = co_await connect_to_workspace(*loop, std::move(options));
    } catch (const Error& error) {
        problem = error;
    }
    if (problem) {
        if (::isatty(STDIN_FILENO) == 0) { // a user who tries it says nothing
            co_await answer_with(loop, std::move(client), *problem);
        }
        throw *problem;
    }
    Relay relay;
    TaskScope tasks;
    tasks.spawn(carry(client.get(), sidecar.get(), &relay.input_tail, &relay, &relay.client_ended));
    tasks.spawn(carry(sidecar.get(), client.get(), nullptr, &relay, &relay.sidecar_ended));
    const bool ended_first = co_await carry_on(loop, sidecar.get(), &relay);
    if (ended_first) {
        fmt::print(stderr,
                   "cellgate: the sidecar of {} ended, and what ran there with it; connect again for a new one. Its "
                   "log may say why: {}\n",
                   escape_unprintable(paths.workspace), escape_unprintable(paths.log));
    }
    client->close();
    sidecar->close();
    co_await tasks.join();
    *exit_code = relay.input_tail.is_exit() ? 0 : 1;
}

} // namespace cellgate::daemon
