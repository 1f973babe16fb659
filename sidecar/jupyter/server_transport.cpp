#include "server_transport.hpp"

#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "base/sync.hpp"
#include "kernel_messages.hpp"
#include "output_reader.hpp"
#include "reconnect_delay.hpp"
#include "server_wire.hpp"

#include <fmt/format.h>

#include <utility>

namespace cellgate::jupyter {

namespace {

using namespace std::chrono_literals;

constexpr Duration handshake_limit = 60s; // a server answers once it has the kernel's own information
constexpr Duration ping_interval = 20s;
constexpr std::size_t messages_in_a_turn = 64;
constexpr std::size_t bytes_in_a_turn = std::size_t{4} << 20;

// What a Jupyter server writes to stderr in place of output over its limits (jupyter_server/services/kernels, and
// notebook before it): "IOPub data rate exceeded." and further lines.
bool says_output_was_dropped(std::string_view content) {
    return content.find("IOPub data rate exceeded.") != std::string_view::npos ||
           content.find("IOPub message rate exceeded.") != std::string_view::npos;
}

class ServerTransport final : public KernelTransport {
  public:
    ServerTransport(async::Loop& loop, async::HttpClient& http, const ServerApi& server, std::string kernel_id,
                    std::function<void(std::string cause)> on_gone)
        : loop_(loop), http_(http), server_(server), kernel_id_(std::move(kernel_id)), on_gone_(std::move(on_gone)),
          session_(random_id()), tasks_([this](std::exception_ptr error) { listener_->on_failed(std::move(error)); }) {}

    void start(TransportListener& listener) override {
        listener_ = &listener;
        tasks_.spawn(run());
        tasks_.spawn(keep_alive());
    }

    void send(Channel channel, const Header& header, std::string_view parent, std::string_view content) override {
        if (socket_) {
            socket_->send(encode_server_message(is_v1_, channel, header, parent, content, session_));
        } else if (channel == Channel::stdin_) {
            kept_ = Kept{header, std::string(parent), std::string(content)};
        }
    }

    std::string silence() const override {
        return problem_.empty() ? fmt::format("the kernel on {} did not answer in time", server_.host()) : problem_;
    }

    Task<void> close() override {
        if (socket_) {
            socket_->close();
        }
        co_await cancel_and_join(tasks_);
        socket_.reset();
    }

  private:
    struct Kept {
        Header header;
        std::string parent;
        std::string content;
    };

    Task<void> run() {
        ReconnectDelay delay;
        while (!gone_) {
            const bool connected = co_await connect();
            if (gone_) {
                co_return;
            }
            bool worked = false;
            if (connected) {
                const Instant begun = loop_.clock().now();
                co_await use_connection();
                worked = ReconnectDelay::has_worked(loop_.clock().now() - begun, was_answered_);
            } else {
                listener_->on_unreachable(problem_);
            }
            co_await sleep_for(loop_.clock(), delay.next(worked));
        }
    }

    Task<void> use_connection() {
        was_answered_ = false;
        listener_->on_connected();
        if (std::optional<Kept> kept = std::exchange(kept_, std::nullopt)) {
            send(Channel::stdin_, kept->header, kept->parent, kept->content);
        }
        co_await receive();
        socket_.reset();
        log_info("the connection to the kernel on {} was cut: {}", server_.host(), problem_);
        listener_->on_cut();
    }

    // Whether there is a connection. Otherwise `problem_` says why not.
    Task<bool> connect() {
        try {
            async::WebSocketRequest request = server_.channels(kernel_id_, session_);
            std::optional<async::WebSocketOpening> opening =
                co_await with_timeout(loop_.clock(), handshake_limit, async::open_websocket(http_, std::move(request)));
            if (!opening) {
                problem_ = fmt::format("the Jupyter server {} did not answer in time", server_.host());
                co_return false;
            }
            if (opening->socket) {
                socket_ = std::move(opening->socket);
                is_v1_ = socket_->protocol() == server_protocol_v1;
                co_return true;
            }
            take_refusal(opening->head.status, opening->body);
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            problem_ = error.message;
        }
        co_return false;
    }

    // 5xx: the server, or a proxy before it, may be well again.
    void take_refusal(int status, const std::string& body) {
        const ServerRefused refusal = server_.refusal("refused the connection to the kernel", status, body);
        problem_ = refusal.message;
        if (status == 404) {
            gone("the server has it no more");
        } else if (status >= 400 && status < 500) {
            gone(refusal.message);
        }
    }

    void gone(std::string cause) {
        if (!std::exchange(gone_, true)) {
            on_gone_(std::move(cause));
        }
    }

    Task<void> receive() {
        std::size_t messages = 0;
        std::size_t bytes = 0;
        try {
            while (!gone_) {
                std::optional<async::WebSocketMessage> message = co_await socket_->receive();
                if (!message) {
                    problem_ = fmt::format("the server has closed it ({}) {}", socket_->end().code,
                                           escape_unprintable(socket_->end().reason));
                    co_return;
                }
                bytes += message->payload.size();
                take(std::move(*message));
                if (++messages >= messages_in_a_turn || bytes >= bytes_in_a_turn) {
                    messages = 0;
                    bytes = 0;
                    co_await loop_.yield();
                }
            }
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            problem_ = error.message;
        }
    }

    void take(async::WebSocketMessage bytes) {
        std::optional<ServerMessage> received;
        try {
            received = decode_server_message(is_v1_, std::move(bytes));
        } catch (const Error& error) {
            listener_->on_invalid(error.message);
            return;
        }
        if (!received) {
            return;
        }
        WireMessage& message = received->message;
        was_answered_ |= received->channel == Channel::shell;
        if (received->channel == Channel::iopub && message.header.msg_type == "status") {
            inspect_state(message.content);
        } else if (received->channel == Channel::iopub && message.header.msg_type == "stream" &&
                   says_output_was_dropped(message.content)) {
            listener_->on_output_lost(message.parent_id,
                                      "the Jupyter server left out output that came too fast for its "
                                      "limits (ServerApp.iopub_data_rate_limit, "
                                      "ServerApp.iopub_msg_rate_limit)");
        }
        listener_->on_message(received->channel, std::move(message));
    }

    // By the server, not by the kernel: it starts a kernel that has died again, or gives it up.
    void inspect_state(const std::string& content) {
        std::string state;
        try {
            state = read_execution_state(content);
        } catch (const Error&) {
            return; // the client drops it
        }
        if (state == "restarting" || state == "autorestarting" || state == "dead") {
            gone(state == "dead" ? "its process ended" : "its process ended, and the server has started another one");
        }
    }

    // A connection that a router has forgotten looks as good as one on which nothing happens.
    Task<void> keep_alive() {
        std::size_t arrivals = 0;
        const async::WebSocket* asked = nullptr;
        while (true) {
            co_await sleep_for(loop_.clock(), ping_interval);
            if (socket_ && socket_.get() == asked && socket_->arrivals() == arrivals) {
                socket_->close();
                asked = nullptr;
            } else if (socket_) {
                asked = socket_.get();
                arrivals = socket_->arrivals();
                socket_->ping();
            }
        }
    }

    async::Loop& loop_;
    async::HttpClient& http_;
    const ServerApi& server_;
    std::string kernel_id_;
    std::function<void(std::string cause)> on_gone_;
    std::string session_; // the same one over all connections
    std::unique_ptr<async::WebSocket> socket_;
    bool is_v1_ = false;
    bool gone_ = false;
    bool was_answered_ = false; // a request over this connection, or one before a cut
    std::string problem_;       // of the last connection
    std::optional<Kept> kept_;
    TransportListener* listener_ = nullptr;
    TaskScope tasks_;
};

} // namespace

std::unique_ptr<KernelTransport> server_transport(async::Loop& loop, async::HttpClient& http, const ServerApi& server,
                                                  std::string kernel_id,
                                                  std::function<void(std::string cause)> on_gone) {
    return std::make_unique<ServerTransport>(loop, http, server, std::move(kernel_id), std::move(on_gone));
}

} // namespace cellgate::jupyter
