#include "user_agrees.hpp"

#include "base/error.hpp"
#include "terminal.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>

namespace cellgate::cli {

Task<bool> user_agrees(async::Loop* loop, std::string question, std::string what_yes_does) {
    std::fflush(stdout);
    const std::unique_ptr<Terminal> terminal = Terminal::open(*loop);
    if (!terminal) {
        throw Error(ErrorCode::denied, "there is no terminal to ask at",
                    fmt::format("--yes {} without a question", what_yes_does));
    }
    const std::optional<std::string> answer = co_await terminal->ask(std::move(question));
    co_await terminal->close();
    co_return answer == "y" || answer == "yes";
}

} // namespace cellgate::cli
