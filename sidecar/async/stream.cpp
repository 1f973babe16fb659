#include "async/stream.hpp"

#include "base/log.hpp"
#include "base/sync.hpp"
#include "system_stream.hpp"
#include "uv_handle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace cellgate::async {

namespace {

constexpr std::size_t max_buffered_bytes = std::size_t{1} << 20;
// Bytes written in one turn of the loop are sent in pieces of this size.
constexpr std::size_t max_batch_bytes = std::size_t{64} << 10;
constexpr std::uint64_t linger_milliseconds = 3000;
// The size of a pipe that is written to. With the usual 64 KiB the two sides wait for each other in turns when there is
// much output.
constexpr int pipe_bytes = 1 << 20;

bool is_gone(int status) {
    // EIO is what a terminal says after its other side has closed.
    return status == UV_EOF || status == UV_EPIPE || status == UV_ECONNRESET || status == UV_ECANCELED ||
           status == UV_EIO;
}

// A pipe, a socket or a terminal.
class UvStream final : public InputEnd, public OutputEnd, public std::enable_shared_from_this<UvStream> {
  public:
    UvStream(Loop& loop, bool input, bool output) : loop_(loop), input_open_(input), output_open_(output) {}

    void open(int fd, uv_handle_type type);

    Task<std::string> read() override { return read_some(shared_from_this()); }
    void close_input() override;
    void write(std::string bytes) override;
    std::size_t write_queue_size() const override {
        return closed() ? 0 : batch_.size() + uv_stream_get_write_queue_size(&handle_.stream);
    }
    Task<void> drained(std::size_t below) override { return wait_drained(shared_from_this(), below); }
    void close_output() override;
    void limit_linger() override;
    bool peer_gone() const override { return peer_gone_ || closed(); }
    void abort() override { close_now(); }

  private:
    struct Write {
        uv_write_t request{};
        std::string batch;
        std::string bytes;
        std::shared_ptr<UvStream> stream;

        // All but the first `skipped` bytes.
        std::vector<uv_buf_t> buffers(std::size_t skipped);
    };

    static Task<std::string> read_some(std::shared_ptr<UvStream> self);
    static Task<void> wait_drained(std::shared_ptr<UvStream> self, std::size_t below);
    void start_reading();
    void stop_reading();
    void received(ssize_t count, const char* bytes);
    void flush();
    void write_now(std::string bytes); // after the batch
    void written(int status);
    void check_linger();
    void shut_output();
    void close_if_done();
    void close_now();
    bool closed() const { return uv_is_closing(reinterpret_cast<const uv_handle_t*>(&handle_)) != 0; }

    Loop& loop_;
    union {
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tcp_t tcp;
        uv_tty_t tty;
    } handle_{};

    bool input_open_;
    bool reading_ = false;
    bool ended_ = false;
    int read_failure_ = 0;
    std::string buffer_;
    Condition readable_;

    bool output_open_;
    bool peer_gone_ = false;
    std::size_t writes_ = 0;
    Condition progress_;
    // Small writes of this turn of the loop: each by itself would be a system call and wake the reader. A coroutine
    // that waits for them may write again while they are sent: then the loop must not wait, hence an idle handle.
    std::string batch_;
    uv_idle_t turn_end_{};
    bool batching_ = false;
    // Runs while a closed stream still has something to write.
    uv_timer_t linger_{};
    bool lingering_ = false;
    std::size_t linger_size_ = 0;
};

void UvStream::open(int fd, uv_handle_type type) {
    uv_loop_t* loop = loop_.raw();
    int status = 0;
    if (type == UV_TTY) {
        status = uv_tty_init(loop, &handle_.tty, fd, 0);
        if (status != 0) {
            release_descriptor(fd);
            throw uv_error("cannot open the terminal", status);
        }
        adopt(handle_.tty, shared_from_this());
        // libuv reopens terminals, so that the shell's own description of it stays as it is.
        int opened = -1;
        uv_fileno(reinterpret_cast<uv_handle_t*>(&handle_.tty), &opened);
        if (opened != fd) {
            release_descriptor(fd);
        }
        return;
    }
    if (type == UV_TCP) {
        uv_tcp_init(loop, &handle_.tcp);
        adopt(handle_.tcp, shared_from_this());
        status = uv_tcp_open(&handle_.tcp, fd);
    } else {
        if (output_open_) {
            ::fcntl(fd, F_SETPIPE_SZ, pipe_bytes); // where it is a pipe, and the system's limits allow
        }
        uv_pipe_init(loop, &handle_.pipe, 0);
        adopt(handle_.pipe, shared_from_this());
        status = uv_pipe_open(&handle_.pipe, fd);
    }
    if (status != 0) {
        release_descriptor(fd);
        close_now();
        throw uv_error("cannot open a stream", status);
    }
}

Task<std::string> UvStream::read_some(std::shared_ptr<UvStream> self) {
    self->start_reading();
    const auto readable = [&self] {
        return !self->buffer_.empty() || self->read_failure_ != 0 || self->ended_ || !self->input_open_;
    };
    co_await self->readable_.until(readable);
    if (self->buffer_.empty() && self->read_failure_ != 0) {
        throw uv_error("cannot read", self->read_failure_);
    }
    std::string bytes = std::exchange(self->buffer_, {});
    self->start_reading();
    co_return bytes;
}

void UvStream::start_reading() {
    if (reading_ || ended_ || !input_open_ || read_failure_ != 0) {
        return;
    }
    const int status = uv_read_start(
        &handle_.stream,
        [](uv_handle_t*, std::size_t, uv_buf_t* buffer) {
            // libuv fills it and hands it to the read callback before anything else can run.
            static std::array<char, std::size_t{64} << 10> scratch;
            *buffer = uv_buf_init(scratch.data(), scratch.size());
        },
        [](uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
            owner_of<UvStream>(stream)->received(count, buffer->base);
        });
    if (status != 0) {
        read_failure_ = status;
        return;
    }
    reading_ = true;
}

void UvStream::stop_reading() {
    if (std::exchange(reading_, false)) {
        uv_read_stop(&handle_.stream);
    }
}

void UvStream::received(ssize_t count, const char* bytes) {
    if (count == 0) {
        return;
    }
    if (count > 0) {
        buffer_.append(bytes, static_cast<std::size_t>(count));
        if (buffer_.size() >= max_buffered_bytes) {
            stop_reading();
        }
    } else {
        stop_reading();
        if (is_gone(static_cast<int>(count))) {
            ended_ = true;
        } else {
            read_failure_ = static_cast<int>(count);
        }
    }
    readable_.notify();
}

void UvStream::close_input() {
    if (!std::exchange(input_open_, false)) {
        return;
    }
    stop_reading();
    buffer_.clear();
    close_if_done();
    readable_.notify();
}

void UvStream::write(std::string bytes) {
    if (!output_open_ || peer_gone_ || bytes.empty()) {
        return;
    }
    if (bytes.size() > max_batch_bytes) {
        write_now(std::move(bytes));
        return;
    }
    if (batch_.size() + bytes.size() > max_batch_bytes) {
        flush();
    }
    if (!std::exchange(batching_, true)) {
        uv_idle_init(loop_.raw(), &turn_end_);
        adopt(turn_end_, shared_from_this());
    }
    if (batch_.empty()) {
        uv_idle_start(&turn_end_, [](uv_idle_t* handle) { owner_of<UvStream>(handle)->flush(); });
    }
    batch_ += bytes;
}

void UvStream::flush() {
    if (!batch_.empty()) {
        write_now({});
    }
}

std::vector<uv_buf_t> UvStream::Write::buffers(std::size_t skipped) {
    std::vector<uv_buf_t> result;
    for (std::string* part : {&batch, &bytes}) {
        const std::size_t here = std::min(skipped, part->size());
        skipped -= here;
        if (here < part->size()) {
            result.push_back(uv_buf_init(part->data() + here, static_cast<unsigned>(part->size() - here)));
        }
    }
    return result;
}

void UvStream::write_now(std::string bytes) {
    if (!batch_.empty()) {
        uv_idle_stop(&turn_end_);
    }
    auto write = std::make_unique<Write>(Write{{}, std::exchange(batch_, {}), std::move(bytes), shared_from_this()});
    const std::size_t size = write->batch.size() + write->bytes.size();
    ++writes_;
    std::vector<uv_buf_t> buffers = write->buffers(0);
    int status = uv_try_write(&handle_.stream, buffers.data(), static_cast<unsigned>(buffers.size()));
    if (status == static_cast<int>(size)) {
        status = 0;
    } else if (status >= 0 || status == UV_EAGAIN) {
        buffers = write->buffers(static_cast<std::size_t>(std::max(status, 0)));
        write->request.data = write.get();
        const auto done = [](uv_write_t* request, int written_status) {
            const std::unique_ptr<Write> ended(static_cast<Write*>(request->data));
            ended->stream->written(written_status);
        };
        status =
            uv_write(&write->request, &handle_.stream, buffers.data(), static_cast<unsigned>(buffers.size()), done);
        if (status == 0) {
            [[maybe_unused]] const Write* held_by_libuv = write.release(); // until done()
            return;
        }
    }
    written(status);
}

void UvStream::written(int status) {
    --writes_;
    if (status != 0 && !std::exchange(peer_gone_, true) && !is_gone(status)) {
        log_error("cannot write: {}", uv_strerror(status));
    }
    close_if_done();
    progress_.notify();
}

Task<void> UvStream::wait_drained(std::shared_ptr<UvStream> self, std::size_t below) {
    const auto drained = [&self, below] {
        return self->closed() || self->peer_gone_ || self->write_queue_size() <= below;
    };
    co_await self->progress_.until(drained);
}

void UvStream::close_output() {
    if (!std::exchange(output_open_, false)) {
        return;
    }
    flush();
    if (input_open_ && !closed()) {
        shut_output();
    }
    close_if_done();
}

// Half-closes after the queued bytes. A terminal has no half-close, and a stream whose peer is gone needs none.
void UvStream::shut_output() {
    auto shutdown = std::make_unique<uv_shutdown_t>();
    const auto done = [](uv_shutdown_t* request, int) { const std::unique_ptr<uv_shutdown_t> ended(request); };
    if (uv_shutdown(shutdown.get(), &handle_.stream, done) == 0) {
        [[maybe_unused]] const uv_shutdown_t* held_by_libuv = shutdown.release(); // until done()
    }
}

void UvStream::limit_linger() {
    if (closed() || lingering_) {
        return;
    }
    lingering_ = true;
    linger_size_ = write_queue_size();
    uv_timer_init(loop_.raw(), &linger_);
    adopt(linger_, shared_from_this());
    uv_timer_start(
        &linger_, [](uv_timer_t* timer) { owner_of<UvStream>(timer)->check_linger(); }, linger_milliseconds,
        linger_milliseconds);
}

void UvStream::check_linger() {
    const std::size_t size = write_queue_size();
    if (size == std::exchange(linger_size_, size)) {
        log_warning("{} bytes were not written: the other side has taken nothing for {} ms", size, linger_milliseconds);
        close_now();
    }
}

void UvStream::close_if_done() {
    if (!input_open_ && !output_open_ && writes_ == 0) {
        close_now();
    }
}

void UvStream::close_now() {
    close_handle<UvStream>(handle_.stream);
    if (std::exchange(batching_, false)) {
        batch_.clear();
        close_handle<UvStream>(turn_end_);
    }
    if (std::exchange(lingering_, false)) {
        close_handle<UvStream>(linger_);
    }
}

std::shared_ptr<UvStream> open_uv_stream(Loop& loop, int fd, uv_handle_type type, bool input, bool output) {
    auto stream = std::make_shared<UvStream>(loop, input, output);
    stream->open(fd, type);
    return stream;
}

// Standard descriptors are shared with the parent process; O_NONBLOCK, which libuv sets on the open file description,
// must not affect it. A pipe is reopened; a socket cannot be, and only gets another number.
int own_description(int fd, uv_handle_type type) {
    if (fd > STDERR_FILENO || type == UV_FILE) {
        ::fcntl(fd, F_SETFD, FD_CLOEXEC);
        return fd;
    }
    int own = -1;
    struct stat status{};
    if (::fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode)) {
        const int mode = ::fcntl(fd, F_GETFL) & O_ACCMODE;
        own = ::open(fmt::format("/proc/self/fd/{}", fd).c_str(), mode | O_NONBLOCK | O_CLOEXEC);
    }
    if (own < 0) {
        own = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    }
    if (own < 0) {
        throw system_error(ErrorCode::internal_error, fmt::format("cannot duplicate descriptor {}", fd), errno);
    }
    release_descriptor(fd);
    return own;
}

uv_handle_type type_of(int fd) {
    const uv_handle_type type = uv_guess_handle(fd);
    if (type != UV_TTY && type != UV_NAMED_PIPE && type != UV_TCP && type != UV_FILE) {
        throw Error(
            ErrorCode::internal_error,
            fmt::format("expected a pipe, socket, terminal or file at descriptor {}, found something else", fd));
    }
    return type;
}

} // namespace

void release_descriptor(int fd) {
    if (fd > STDERR_FILENO) {
        ::close(fd);
        return;
    }
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || ::dup2(null, fd) < 0) {
        throw system_error(ErrorCode::internal_error, "cannot open /dev/null", errno);
    }
    ::close(null);
}

SystemStream::SystemStream(Loop& loop, int read_fd, int write_fd) {
    const uv_handle_type read_type = type_of(read_fd);
    if (read_fd == write_fd) {
        const int fd = own_description(read_fd, read_type);
        if (read_type == UV_FILE) {
            output_ = open_file_output(loop, ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
            input_ = open_file_input(loop, fd);
        } else {
            const std::shared_ptr<UvStream> both = open_uv_stream(loop, fd, read_type, true, true);
            input_ = both;
            output_ = both;
        }
        return;
    }
    const uv_handle_type write_type = type_of(write_fd);
    const int input = own_description(read_fd, read_type);
    const int output = own_description(write_fd, write_type);
    input_ = read_type == UV_FILE ? open_file_input(loop, input) : open_uv_stream(loop, input, read_type, true, false);
    output_ =
        write_type == UV_FILE ? open_file_output(loop, output) : open_uv_stream(loop, output, write_type, false, true);
}

void SystemStream::close() {
    input_->close_input();
    output_->close_output();
    output_->limit_linger();
}

std::unique_ptr<ByteStream> open_stream(Loop& loop, int read_fd, int write_fd) {
    return std::make_unique<SystemStream>(loop, read_fd, write_fd);
}

} // namespace cellgate::async
