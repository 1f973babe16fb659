#include "async/zmq_socket.hpp"
#include "base/names.hpp"
#include "base/sync.hpp"
#include "jupyter/kernel_transport.hpp"

#include <utility>
#include <vector>

namespace cellgate::jupyter {

namespace {

using namespace std::chrono_literals;

// How often to look for the kernel's sockets until it has bound them.
constexpr Duration connect_interval = 2ms;
// After this many, other coroutines get their turn.
constexpr std::size_t messages_per_turn = 64;
constexpr std::size_t large_message = std::size_t{1} << 20;
constexpr std::size_t bytes_per_turn = std::size_t{4} << 20;
// Bytes read from the kernel ahead of their handling.
constexpr std::size_t max_output_ahead_bytes = std::size_t{4} << 20;

class ZmqTransport final : public KernelTransport {
  public:
    ZmqTransport(async::Loop& loop, ConnectionInfo connection)
        : loop_(loop), connection_(std::move(connection)), session_(random_id()),
          shell_(loop, async::ZmqType::dealer, session_, max_wire_bytes),
          control_(loop, async::ZmqType::dealer, session_, max_wire_bytes),
          iopub_(loop, async::ZmqType::sub, {}, max_wire_bytes),
          // The kernel asks the identity that sent the code.
          stdin_(loop, async::ZmqType::dealer, session_, max_wire_bytes),
          tasks_([this](std::exception_ptr error) { listener_->on_failed(std::move(error)); }) {
        if (connection_.kernel_keeps_output) {
            iopub_.leave_with_sender(max_output_ahead_bytes);
        }
    }

    void start(TransportListener& listener) override {
        listener_ = &listener;
        tasks_.spawn(connect());
        tasks_.spawn(receive(Channel::iopub));
        tasks_.spawn(receive(Channel::shell));
        tasks_.spawn(receive(Channel::stdin_));
        tasks_.spawn(receive(Channel::control));
    }

    void send(Channel channel, const Header& header, std::string_view parent, std::string_view content) override {
        socket(channel).send(encode_message(connection_.key, header, parent, content, session_));
    }

    std::string silence() const override {
        return opened_sockets_.empty() ? "the kernel did not make the sockets that its connection file names"
                                       : "the kernel did not answer in time";
    }

    Task<void> close() override {
        co_await cancel_and_join(tasks_);
        shell_.close();
        control_.close();
        iopub_.close();
        stdin_.close();
    }

  private:
    async::ZmqSocket& socket(Channel channel) {
        switch (channel) {
        case Channel::shell:
            return shell_;
        case Channel::iopub:
            return iopub_;
        case Channel::stdin_:
            return stdin_;
        default:
            return control_;
        }
    }

    // Connects to each socket once the kernel has bound it. Earlier messages are queued.
    Task<void> connect() {
        std::vector<Channel> missing = {Channel::shell, Channel::control, Channel::iopub, Channel::stdin_};
        while (true) {
            std::erase_if(missing, [this](Channel channel) {
                std::optional<KernelSocket> opened = open_socket(connection_, channel);
                if (opened) {
                    socket(channel).connect(opened->endpoint());
                    opened_sockets_.push_back(std::move(*opened));
                }
                return opened.has_value();
            });
            if (missing.empty()) {
                co_return;
            }
            co_await sleep_for(loop_.clock(), connect_interval);
        }
    }

    Task<void> receive(Channel channel) {
        WireReader reader(connection_.key);
        std::size_t messages = 0;
        std::size_t bytes = 0;
        while (true) {
            async::ZmqMessage frames = co_await socket(channel).receive();
            std::size_t size = 0;
            for (const std::string& frame : frames) {
                size += frame.size();
            }
            bytes += size;
            // Reading, checking and delivering a large message each take long enough for one turn.
            const bool large = size >= large_message;
            if (large) {
                co_await loop_.yield();
            }
            std::optional<WireMessage> message = read(reader, std::move(frames));
            if (large) {
                co_await loop_.yield();
            }
            if (message) {
                listener_->on_message(channel, std::move(*message));
            }
            if (++messages >= messages_per_turn || bytes >= bytes_per_turn) {
                messages = 0;
                bytes = 0;
                co_await loop_.yield();
            }
        }
    }

    std::optional<WireMessage> read(WireReader& reader, async::ZmqMessage frames) {
        try {
            return reader.read(std::move(frames));
        } catch (const Error& error) {
            listener_->on_invalid(error.message);
            return std::nullopt;
        }
    }

    async::Loop& loop_;
    ConnectionInfo connection_;
    std::string session_;
    std::vector<KernelSocket> opened_sockets_; // as long as the sockets may connect to them again
    async::ZmqSocket shell_;
    async::ZmqSocket control_;
    async::ZmqSocket iopub_;
    async::ZmqSocket stdin_;
    TransportListener* listener_ = nullptr;
    TaskScope tasks_;
};

} // namespace

std::unique_ptr<KernelTransport> zmq_transport(async::Loop& loop, const ConnectionInfo& connection) {
    return std::make_unique<ZmqTransport>(loop, connection);
}

} // namespace cellgate::jupyter
