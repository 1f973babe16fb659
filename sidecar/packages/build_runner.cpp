#include "packages/build_runner.hpp"

#include "base/escape_unprintable.hpp"
#include "base/sync.hpp"
#include "packages/credentials.hpp"

#include <algorithm>

namespace cellgate::packages {

namespace {

constexpr std::size_t max_output_bytes = std::size_t{16} << 10; // of what is kept: the end
constexpr std::size_t max_line_bytes = 200;

// The end of a text, from the beginning of a line.
std::string end_of(const std::string& text, bool cut) {
    const std::size_t start = text.size() > max_output_bytes ? text.size() - max_output_bytes : 0;
    if (start == 0 && !cut) {
        return text;
    }
    const std::size_t line = text.find('\n', start);
    return "[…]\n" + (line == std::string::npos ? std::string() : text.substr(line + 1));
}

} // namespace

struct BuildRunner::Running {
    std::unique_ptr<async::Process> process;
    TakeLine on_line;
    std::string text;
    bool cut = false;
    std::string line;
    Event ended;

    void take(const std::string& bytes) {
        text += bytes;
        if (text.size() > 2 * max_output_bytes) {
            text.erase(0, text.size() - max_output_bytes);
            cut = true;
        }
        for (const char c : bytes) {
            if (c != '\n') {
                line += std::string(line.size() < max_output_bytes ? 1 : 0, c);
            } else if (!line.empty()) {
                if (on_line) {
                    on_line(escape_unprintable(without_credentials(line).substr(0, max_line_bytes)));
                }
                line.clear();
            }
        }
    }
};

Task<void> BuildRunner::read_output(std::shared_ptr<Running> running) {
    while (true) {
        const std::string bytes = co_await running->process->stdio().read();
        if (bytes.empty()) {
            break;
        }
        running->take(bytes);
    }
    co_await running->process->exited();
    running->ended.set();
}

// Kills it unless it has ended.
Task<void> BuildRunner::end_program(std::shared_ptr<Running> running, TaskScope* reading) {
    if (!running->ended.is_set()) {
        running->process->kill();
    }
    co_await reading->join();
}

Task<BuildOutcome> BuildRunner::run(async::Command command, sandbox::BuildProfile profile, TakeLine on_line) {
    std::function<sandbox::Launch()> wrap = [this, &command, &profile] {
        return sandbox::wrap_build(std::move(command), profile, environment_);
    };
    sandbox::Launch launch = co_await loop_.run_blocking(std::move(wrap));
    const auto running = std::make_shared<Running>();
    running->on_line = std::move(on_line);
    running->process = async::start_process(loop_, std::move(launch.command));
    running->process->close_stdin();
    TaskScope reading;
    reading.spawn(read_output(running));
    co_await finally(until_set(running->ended), end_program(running, &reading));
    BuildOutcome outcome;
    outcome.status = co_await running->process->exited();
    outcome.errors = running->process->stderr_tail();
    outcome.output = escape_unprintable(
        without_credentials(end_of(running->text, running->cut) + end_of(outcome.errors, false)), true);
    outcome.printed = std::move(running->text);
    outcome.layers = std::move(launch.layers);
    co_return outcome;
}

std::string last_words(std::string_view text, std::string_view prefix) {
    std::string_view words;
    std::string_view error;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        words = line.find_first_not_of(" \r") != std::string_view::npos ? line : words;
        error = line.starts_with(prefix) ? line : error;
    }
    return escape_unprintable(without_credentials(error.empty() ? words : error).substr(0, 2 * max_line_bytes));
}

} // namespace cellgate::packages
