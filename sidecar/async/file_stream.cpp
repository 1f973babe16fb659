// Regular files and character devices: the loop cannot wait for them, so libuv's threads read and write.

#include "base/log.hpp"
#include "base/sync.hpp"
#include "system_stream.hpp"
#include "uv_handle.hpp"

#include <cerrno>
#include <deque>
#include <unistd.h>

namespace cellgate::async {

namespace {

class FileInput final : public InputEnd, public std::enable_shared_from_this<FileInput> {
  public:
    FileInput(Loop& loop, int fd) : loop_(loop), fd_(fd) {}

    Task<std::string> read() override { return read_some(shared_from_this()); }

    void close_input() override {
        if (!std::exchange(open_, false)) {
            return;
        }
        if (!busy_) {
            release_descriptor(fd_);
        }
        done_.notify();
    }

  private:
    static Task<std::string> read_some(std::shared_ptr<FileInput> self) {
        self->start();
        const auto done = [&self] { return self->result_ || !self->open_; };
        co_await self->done_.until(done);
        if (!self->open_) {
            co_return std::string();
        }
        const ssize_t count = *std::exchange(self->result_, std::nullopt);
        if (count < 0) {
            throw uv_error("cannot read", static_cast<int>(count));
        }
        co_return self->buffer_.substr(0, static_cast<std::size_t>(count));
    }

    void start() {
        // An earlier read() may have been cancelled: its bytes come to this one.
        if (!open_ || result_ || std::exchange(busy_, true)) {
            return;
        }
        buffer_.resize(std::size_t{64} << 10);
        adopt(request_, shared_from_this());
        const uv_buf_t buffer = uv_buf_init(buffer_.data(), static_cast<unsigned>(buffer_.size()));
        uv_fs_read(loop_.raw(), &request_, fd_, &buffer, 1, -1, [](uv_fs_t* request) {
            const std::unique_ptr<std::shared_ptr<FileInput>> self(
                static_cast<std::shared_ptr<FileInput>*>(request->data));
            (*self)->finish(request->result);
        });
    }

    void finish(ssize_t result) {
        uv_fs_req_cleanup(&request_);
        busy_ = false;
        result_ = result;
        if (!open_) {
            release_descriptor(fd_);
        }
        done_.notify();
    }

    Loop& loop_;
    int fd_;
    bool open_ = true;
    bool busy_ = false;
    uv_fs_t request_{};
    std::string buffer_;
    std::optional<ssize_t> result_;
    Condition done_;
};

class FileOutput final : public OutputEnd, public std::enable_shared_from_this<FileOutput> {
  public:
    FileOutput(Loop& loop, int fd) : loop_(loop), fd_(fd) {}

    void write(std::string bytes) override {
        if (!open_ || failed_ || bytes.empty()) {
            return;
        }
        size_ += bytes.size();
        queue_.push_back(std::move(bytes));
        start();
    }

    std::size_t write_queue_size() const override { return size_; }
    Task<void> drained(std::size_t below) override { return wait_drained(shared_from_this(), below); }

    void close_output() override {
        if (std::exchange(open_, false) && !busy_) {
            release_descriptor(fd_);
        }
    }

    bool peer_gone() const override { return false; }
    void abort() override { close_output(); }
    void limit_linger() override {} // a file takes what it is given, or fails

  private:
    static Task<void> wait_drained(std::shared_ptr<FileOutput> self, std::size_t below) {
        const auto drained = [&self, below] { return self->size_ <= below; };
        co_await self->progress_.until(drained);
    }

    void start() {
        if (std::exchange(busy_, true)) {
            return;
        }
        adopt(request_, shared_from_this());
        std::string& front = queue_.front();
        uv_buf_t buffer{};
        buffer.base = front.data() + offset_;
        buffer.len = front.size() - offset_;
        uv_fs_write(loop_.raw(), &request_, fd_, &buffer, 1, -1, [](uv_fs_t* request) {
            const std::unique_ptr<std::shared_ptr<FileOutput>> self(
                static_cast<std::shared_ptr<FileOutput>*>(request->data));
            (*self)->finish(request->result);
        });
    }

    void finish(ssize_t result) {
        uv_fs_req_cleanup(&request_);
        busy_ = false;
        if (result < 0) {
            log_error("cannot write: {}", uv_strerror(static_cast<int>(result)));
            failed_ = true;
            queue_.clear();
            size_ = 0;
        } else {
            offset_ += static_cast<std::size_t>(result);
            size_ -= static_cast<std::size_t>(result);
            if (offset_ == queue_.front().size()) {
                queue_.pop_front();
                offset_ = 0;
            }
        }
        if (!queue_.empty()) {
            start();
        } else if (!open_) {
            release_descriptor(fd_);
        }
        progress_.notify();
    }

    Loop& loop_;
    int fd_;
    bool open_ = true;
    bool failed_ = false;
    bool busy_ = false;
    uv_fs_t request_{};
    std::deque<std::string> queue_;
    std::size_t offset_ = 0; // of the first in the queue: what the file has taken already
    std::size_t size_ = 0;
    Condition progress_;
};

} // namespace

std::shared_ptr<InputEnd> open_file_input(Loop& loop, int fd) {
    return std::make_shared<FileInput>(loop, fd);
}
std::shared_ptr<OutputEnd> open_file_output(Loop& loop, int fd) {
    return std::make_shared<FileOutput>(loop, fd);
}

} // namespace cellgate::async
