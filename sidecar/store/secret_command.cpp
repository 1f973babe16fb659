#include "secret_command.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/shell_words.hpp"
#include "base/sync.hpp"
#include "store/secrets.hpp"

#include <fmt/format.h>

#include <optional>

namespace cellgate::store {

namespace {

constexpr std::size_t max_shown_bytes = 2000; // of stderr

struct Printed {
    std::string output;
    async::ExitStatus status;
};

Task<Printed> read_to_end(async::Process* process) {
    Printed printed;
    process->close_stdin();
    while (printed.output.size() <= max_secret_value_bytes + 2) { // with a line break
        const std::string bytes = co_await process->stdio().read();
        if (bytes.empty()) {
            printed.status = co_await process->exited();
            break;
        }
        printed.output += bytes;
    }
    co_return printed;
}

Task<void> end(async::Process* process) {
    process->kill();
    co_await process->exited();
}

std::string stderr_of(const async::Process& process) {
    std::string text = process.stderr_tail();
    if (text.size() > max_shown_bytes) {
        text.erase(0, text.size() - max_shown_bytes);
    }
    return text.empty() ? text : "; its stderr ends with: " + escape_unprintable(text, true);
}

void drop_line_break(std::string& text) {
    for (const char c : {'\n', '\r'}) {
        if (text.ends_with(c)) {
            text.pop_back();
        }
    }
}

} // namespace

void require_secret_value(const std::string& name, const std::string& value) {
    std::string_view found;
    if (value.empty()) {
        found = "an empty text";
    } else if (value.find('\0') != std::string::npos) {
        found = "a NUL character";
    } else if (value.size() > max_secret_value_bytes) {
        found = "more";
    } else {
        return;
    }
    throw Error(ErrorCode::store_failed,
                fmt::format("the secret {}: expected a text of 1 to {} bytes without NUL, found {}", name,
                            max_secret_value_bytes, found),
                "Set the secret again.");
}

Task<std::string> secret_from_command(async::Loop* loop, std::string name, async::Command command, Duration timeout) {
    const std::string shown = escape_unprintable(shell_words(command.argv));
    const auto failed = [&](const std::string& how) {
        return Error(ErrorCode::store_failed, fmt::format("the secret {}: `{}` {}", name, shown, how),
                     "Try the command in a terminal; it is given no input.");
    };
    std::unique_ptr<async::Process> process;
    try {
        process = async::start_process(*loop, std::move(command));
    } catch (const Error& error) {
        throw failed("did not start: " + error.message);
    }
    Task<std::optional<Printed>> reading = with_timeout(loop->clock(), timeout, read_to_end(process.get()));
    std::optional<Printed> printed = co_await finally(std::move(reading), end(process.get()));
    if (!printed) {
        throw failed(fmt::format("did not end within {:.0f} seconds{}", to_seconds(timeout), stderr_of(*process)));
    }
    if (!printed->status.success()) {
        throw failed(fmt::format("failed with {}{}", printed->status.describe(), stderr_of(*process)));
    }
    drop_line_break(printed->output);
    require_secret_value(name, printed->output);
    co_return std::move(printed->output);
}

} // namespace cellgate::store
