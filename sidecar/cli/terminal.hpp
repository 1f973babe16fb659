#pragma once
// The person at the terminal (/dev/tty), whatever stdin and stdout are connected to.

#include "async/loop.hpp"
#include "async/stream.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace cellgate::cli {

class Terminal {
  public:
    // Nothing when this process has no terminal.
    static std::unique_ptr<Terminal> open(async::Loop& loop);
    ~Terminal();

    // Whoever asks has the terminal for itself as long as its turn exists: two questions at once would share an answer.
    class Turn {
      public:
        explicit Turn(Terminal& terminal) : terminal_(&terminal) {}
        Turn(Turn&& other) noexcept : terminal_(std::exchange(other.terminal_, nullptr)) {}
        Turn& operator=(Turn&&) = delete;
        ~Turn();

      private:
        Terminal* terminal_;
    };
    Task<Turn> turn();

    // `text` is written as it is: it must be safe to show.
    void write(const std::string& text);
    // How wide it is now.
    std::size_t columns() const;
    // Waits as long as nobody can have read what was just written: who types meanwhile means something else.
    Task<void> let_read();
    // What was typed before the question does not count as its answer. Nothing at the end of input.
    Task<std::optional<std::string>> ask(std::string question, bool hide_answer = false);
    Task<void> close();

  private:
    Terminal(async::Loop& loop, int fd, std::unique_ptr<ByteStream> output)
        : loop_(loop), fd_(fd), output_(std::move(output)) {}

    async::Loop& loop_;
    int fd_;
    std::unique_ptr<ByteStream> output_;
    bool taken_ = false;
    Event free_;
};

} // namespace cellgate::cli
