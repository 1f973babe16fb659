#include "terminal.hpp"

#include "base/log.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace cellgate::cli {

namespace {

constexpr auto quickest_reader = std::chrono::milliseconds(500);
constexpr std::size_t usual_columns = 80;

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

std::unique_ptr<ByteStream> open_terminal(async::Loop& loop) {
    const int fd = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        throw system_error(ErrorCode::internal_error, "cannot open the terminal", errno);
    }
    return async::open_stream(loop, fd, fd);
}

// Nothing at the end.
Task<std::optional<std::string>> read_line(async::Loop* loop) {
    // An open stream would read input typed between two prompts.
    const std::unique_ptr<ByteStream> input = open_terminal(*loop);
    std::string typed;
    while (typed.find('\n') == std::string::npos) {
        const std::string bytes = co_await input->read();
        if (bytes.empty()) {
            co_return std::nullopt;
        }
        typed += bytes;
    }
    typed.erase(typed.find('\n'));
    co_return std::optional(std::move(typed));
}

} // namespace

std::unique_ptr<Terminal> Terminal::open(async::Loop& loop) {
    const int fd = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return nullptr;
    }
    return std::unique_ptr<Terminal>(new Terminal(loop, fd, open_terminal(loop)));
}

Terminal::~Terminal() {
    ::close(fd_);
}

void Terminal::write(const std::string& text) {
    output_->write(text);
}

std::size_t Terminal::columns() const {
    winsize size{};
    return ::ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : usual_columns;
}

Task<void> Terminal::let_read() {
    return sleep_for(loop_.clock(), quickest_reader);
}

Task<std::optional<std::string>> Terminal::ask(std::string question, bool hide_answer) {
    ::tcflush(fd_, TCIFLUSH);
    const HiddenTyping hidden(fd_, hide_answer);
    output_->write(question);
    std::optional<std::string> answer;
    try {
        answer = co_await read_line(&loop_);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        log_info("the terminal was lost: {}", error.message);
    }
    if (hide_answer || !answer) {
        output_->write("\n");
    }
    co_return answer;
}

Task<void> Terminal::close() {
    co_await output_->drained(0);
    output_->close();
}

} // namespace cellgate::cli
