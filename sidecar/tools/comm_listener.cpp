#include "tools/comm_listener.hpp"

#include "base/encoding.hpp"
#include "base/json_codec.hpp"
#include "base/sync.hpp"
#include "tools/numbered_link.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace cellgate::tools {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_unread_of_stream = std::size_t{16} << 20;
constexpr std::size_t max_streams_waiting = 64;
constexpr std::size_t max_unacknowledged = 4096; // messages, before new connections are refused
constexpr std::size_t max_piece_bytes = std::size_t{1} << 20;
constexpr Duration first_repeat = 2s;
constexpr Duration max_repeat = 30s;
constexpr Duration first_catch_up = 20ms;

struct CommContent {
    std::string comm_id;
    CarriedMessage data;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("comm_id", self.comm_id);
        visit("data", self.data);
    }
};

// What has come of one connection.
struct CarriedStream {
    std::int64_t number = 0;
    std::string unread;
    bool ended = false;
    Condition changed; // also: something that was sent to it is acknowledged
};

} // namespace

struct CommListener::Impl : std::enable_shared_from_this<CommListener::Impl> {
    Impl(Clock& clock_, std::string comm_id_, std::function<void(std::string)> send_)
        : clock(clock_), comm_id(std::move(comm_id_)), send(std::move(send_)),
          link([this](CarriedMessage message) { carry(std::move(message)); },
               [this](CarriedMessage message) { deliver(std::move(message)); }) {}

    void carry(CarriedMessage message) {
        const CommContent content{comm_id, std::move(message)};
        send(to_json(content));
    }

    void post(CarriedMessage message) {
        link.post(std::move(message));
        posted.notify();
    }

    void post_end(std::int64_t stream) {
        CarriedMessage end;
        end.stream = stream;
        end.end = true;
        post(std::move(end));
    }

    void deliver(CarriedMessage message) {
        const std::int64_t number = message.stream.value_or(0);
        if (number > last_stream) {
            last_stream = number;
            open(number);
        }
        const auto found = streams.find(number);
        if (found == streams.end()) { // it was closed here
            return;
        }
        const std::shared_ptr<CarriedStream> stream = found->second;
        if (message.bytes) {
            stream->unread += decode_base64(*message.bytes).value_or("");
        }
        if (message.end.value_or(false) || stream->unread.size() > max_unread_of_stream) {
            stream->ended = true;
        }
        stream->changed.notify();
    }

    void open(std::int64_t number);

    Clock& clock;
    const std::string comm_id;
    const std::function<void(std::string)> send;
    NumberedLink link;
    std::map<std::int64_t, std::shared_ptr<CarriedStream>> streams;
    std::int64_t last_stream = 0;
    std::deque<std::unique_ptr<ByteStream>> waiting; // for accept()
    Condition arrived;
    Condition posted;
    bool closed = false;
    std::uint64_t heard = 0; // messages of the kernel
};

namespace {

class CommStream final : public ByteStream {
  public:
    CommStream(std::shared_ptr<CarriedStream> stream, std::function<void(CarriedMessage)> post,
               std::function<std::size_t()> queued, std::function<void()> on_closed)
        : stream_(std::move(stream)), post_(std::move(post)), queued_(std::move(queued)),
          on_closed_(std::move(on_closed)) {}
    CommStream(const CommStream&) = delete;
    CommStream& operator=(const CommStream&) = delete;
    ~CommStream() override { close(); }

    Task<std::string> read() override {
        const std::shared_ptr<CarriedStream> stream = stream_;
        const auto has_some = [&stream] { return !stream->unread.empty() || stream->ended; };
        co_await stream->changed.until(has_some);
        co_return std::exchange(stream->unread, {});
    }

    void write(std::string bytes) override {
        for (std::size_t at = 0; at < bytes.size() && !stream_->ended; at += max_piece_bytes) {
            CarriedMessage piece;
            piece.stream = stream_->number;
            piece.bytes = encode_base64(std::string_view(bytes).substr(at, max_piece_bytes));
            post_(std::move(piece));
        }
    }

    std::size_t write_queue_size() const override { return stream_->ended ? 0 : queued_(); }

    Task<void> drained(std::size_t below) override {
        const auto is_drained = [this, below] { return write_queue_size() <= below; };
        co_await stream_->changed.until(is_drained);
    }

    void close() override {
        if (!std::exchange(closed_, true)) {
            stream_->ended = true;
            on_closed_();
            stream_->changed.notify();
        }
    }

  private:
    std::shared_ptr<CarriedStream> stream_;
    std::function<void(CarriedMessage)> post_;
    std::function<std::size_t()> queued_;
    std::function<void()> on_closed_;
    bool closed_ = false;
};

} // namespace

void CommListener::Impl::open(std::int64_t number) {
    if (link.unacknowledged() >= max_unacknowledged) { // as where the other side only speaks
        return;
    }
    if (closed || waiting.size() >= max_streams_waiting) {
        post_end(number);
        return;
    }
    auto stream = std::make_shared<CarriedStream>();
    stream->number = number;
    streams.emplace(number, stream);
    const std::shared_ptr<Impl> self = shared_from_this();
    const auto post = [self](CarriedMessage message) { self->post(std::move(message)); };
    const auto queued = [self, number] { return self->link.unacknowledged_bytes(number); };
    const auto on_closed = [self, number] {
        self->streams.erase(number);
        self->post_end(number);
    };
    waiting.push_back(std::make_unique<CommStream>(std::move(stream), post, queued, on_closed));
    arrived.notify();
}

CommListener::CommListener(Clock& clock, std::string comm_id, std::function<void(std::string content)> send)
    : impl_(std::make_shared<Impl>(clock, std::move(comm_id), std::move(send))) {}

CommListener::~CommListener() {
    close();
}

void CommListener::receive(std::string_view content) {
    const std::shared_ptr<Impl> impl = impl_;
    try {
        auto message = from_json<CommContent>(content, "content");
        if (message.comm_id != impl->comm_id) {
            return;
        }
        ++impl->heard;
        const std::int64_t before = impl->link.acknowledged();
        impl->link.receive(std::move(message.data));
        if (impl->link.acknowledged() != before) {
            const auto all = impl->streams;
            for (const auto& [number, stream] : all) {
                stream->changed.notify();
            }
        }
    } catch (const Error&) {
        // It is another program's comm, or made up by the code.
    }
}

Task<void> CommListener::repeat() {
    const std::shared_ptr<Impl> impl = impl_;
    const auto has_some = [&impl] { return impl->link.unacknowledged() > 0; };
    while (true) {
        co_await impl->posted.until(has_some);
        Duration wait = first_repeat;
        std::int64_t before = impl->link.acknowledged();
        while (has_some()) {
            co_await sleep_for(impl->clock, wait);
            if (impl->link.acknowledged() == before) {
                impl->link.repeat();
                wait = std::min(wait * 2, max_repeat);
            } else {
                wait = first_repeat;
            }
            before = impl->link.acknowledged();
        }
    }
}

Task<void> CommListener::catch_up() {
    const std::shared_ptr<Impl> impl = impl_;
    const std::uint64_t before = impl->heard;
    for (Duration wait = first_catch_up; wait < first_repeat && impl->heard == before; wait *= 2) {
        impl->link.ask_again();
        impl->link.repeat();
        co_await sleep_for(impl->clock, wait);
    }
}

Task<std::unique_ptr<ByteStream>> CommListener::accept() {
    const std::shared_ptr<Impl> impl = impl_;
    const auto has_some = [&impl] { return !impl->waiting.empty() || impl->closed; };
    co_await impl->arrived.until(has_some);
    if (impl->closed) {
        co_return nullptr;
    }
    std::unique_ptr<ByteStream> next = std::move(impl->waiting.front());
    impl->waiting.pop_front();
    co_return next;
}

void CommListener::close() {
    if (std::exchange(impl_->closed, true)) {
        return;
    }
    const auto dropped = std::exchange(impl_->waiting, {});
    const auto all = impl_->streams;
    for (const auto& [number, stream] : all) { // what they have queued is not waited for
        stream->ended = true;
        stream->changed.notify();
    }
    impl_->arrived.notify();
}

} // namespace cellgate::tools
