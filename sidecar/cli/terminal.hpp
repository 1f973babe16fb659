#pragma once
// `Terminal` is the user's terminal (/dev/tty), independent of stdin and stdout.

#include "async/loop.hpp"
#include "async/stream.hpp"
#include "base/sync.hpp"

#include <memory>
#include <optional>
#include <string>

namespace cellgate::cli {

class Terminal {
  public:
    // nullptr if this process has no terminal.
    static std::unique_ptr<Terminal> open(async::Loop& loop);
    Clock& clock() { return loop_.clock(); }
    ~Terminal();

    // Exclusive use of the terminal while the lock exists: two prompts at once would share an answer.
    Task<Mutex::Lock> turn() { return turn_.lock(); }

    // Writes `text` unchanged: it must be safe to show.
    void write(const std::string& text);
    // The present width.
    std::size_t columns() const;
    // Waits until a user can have read the text just written: earlier input cannot be an answer to it.
    Task<void> let_read();
    // Discards input typed before the prompt. Nothing at the end of input.
    Task<std::optional<std::string>> ask(std::string question, bool hide_answer = false);
    Task<void> close();

  private:
    Terminal(async::Loop& loop, int fd, std::unique_ptr<ByteStream> output)
        : loop_(loop), fd_(fd), output_(std::move(output)) {}

    async::Loop& loop_;
    int fd_;
    std::unique_ptr<ByteStream> output_;
    Mutex turn_;
};

} // namespace cellgate::cli
