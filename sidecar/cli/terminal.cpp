#include "terminal.hpp"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

namespace cellgate::cli {

namespace {

// Turns the echo off, and on again when it goes.
class HiddenTyping {
  public:
    HiddenTyping(int fd, bool hide) : fd_(fd), hide_(hide && ::tcgetattr(fd, &before_) == 0) {
        if (hide_) {
            termios hidden = before_;
            hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
            ::tcsetattr(fd_, TCSANOW, &hidden);
        }
    }
    HiddenTyping(const HiddenTyping&) = delete;
    HiddenTyping& operator=(const HiddenTyping&) = delete;
    ~HiddenTyping() {
        if (hide_) {
            ::tcsetattr(fd_, TCSANOW, &before_);
        }
    }

  private:
    int fd_;
    termios before_{};
    bool hide_;
};

} // namespace

std::unique_ptr<Terminal> Terminal::open(async::Loop& loop) {
    const int fd = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return nullptr;
    }
    const int stream_fd = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    return std::unique_ptr<Terminal>(new Terminal(fd, async::open_stream(loop, stream_fd, stream_fd)));
}

Terminal::~Terminal() { ::close(fd_); }

void Terminal::write(const std::string& text) { stream_->write(text); }

Task<std::optional<std::string>> Terminal::ask(std::string question, bool hide_answer) {
    ::tcflush(fd_, TCIFLUSH);
    typed_.clear();
    const HiddenTyping hidden(fd_, hide_answer);
    stream_->write(question);
    while (true) {
        const std::size_t end = typed_.find('\n');
        if (end != std::string::npos) {
            std::string answer = typed_.substr(0, end);
            typed_.erase(0, end + 1);
            if (hide_answer) {
                stream_->write("\n");
            }
            co_return std::optional(std::move(answer));
        }
        const std::string bytes = co_await stream_->read();
        if (bytes.empty()) {
            co_return std::nullopt;
        }
        typed_ += bytes;
    }
}

Task<void> Terminal::close() {
    co_await stream_->drained(0);
    stream_->close();
}

} // namespace cellgate::cli
