#include "packages/build_runner.hpp"

#include "base/escape_unprintable.hpp"
#include "packages/credentials.hpp"
#include "sandbox/build_run.hpp"

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

struct Printed {
    TakeLine on_line;
    std::string text;
    bool cut = false;
    std::string line;

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

} // namespace

Task<BuildOutcome> BuildRunner::run(async::Command command, sandbox::BuildProfile profile, TakeLine on_line) {
    Printed printed;
    printed.on_line = std::move(on_line);
    std::function<void(const std::string&)> take = [&printed](const std::string& bytes) { printed.take(bytes); };
    std::string no_input;
    sandbox::BuildRun ran = co_await sandbox::run_build(loop_, std::move(command), std::move(profile), environment_,
                                                        std::move(no_input), std::move(take));
    BuildOutcome outcome;
    outcome.status = ran.status;
    outcome.output =
        escape_unprintable(without_credentials(end_of(printed.text, printed.cut) + end_of(ran.errors, false)), true);
    outcome.errors = std::move(ran.errors);
    outcome.printed = std::move(printed.text);
    outcome.layers = std::move(ran.layers);
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
