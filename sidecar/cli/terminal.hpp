#pragma once
// The person at the terminal (/dev/tty), whatever stdin and stdout are connected to.

#include "async/loop.hpp"
#include "async/stream.hpp"

#include <memory>
#include <optional>
#include <string>

namespace cellgate::cli {

class Terminal {
  public:
    // Nothing when this process has no terminal.
    static std::unique_ptr<Terminal> open(async::Loop& loop);
    ~Terminal();

    // `text` is written as it is: it must be safe to show.
    void write(const std::string& text);
    // What was typed before the question does not count as its answer. Nothing at the end of input.
    Task<std::optional<std::string>> ask(std::string question, bool hide_answer = false);
    Task<void> close();

  private:
    Terminal(int fd, std::unique_ptr<ByteStream> stream) : fd_(fd), stream_(std::move(stream)) {}

    int fd_;
    std::unique_ptr<ByteStream> stream_;
    std::string typed_;
};

} // namespace cellgate::cli
