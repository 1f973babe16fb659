#include "output_printer.hpp"

#include "output_text.hpp"
#include "prompt_text.hpp"
#include "terminal_text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace cellgate::cli {

namespace {

// While a question is open, which may be for hours.
constexpr std::size_t max_buffered_bytes = std::size_t{8} << 20;

} // namespace

OutputPrinter::OutputPrinter() : colours_(::isatty(STDOUT_FILENO) != 0) {}

void OutputPrinter::print(const RawJson& output) {
    const OutputText text = output_text(output, colours_);
    write(text.is_error, text.text);
}

void OutputPrinter::print_line(const std::string& line) {
    write(false, line + "\n");
}

void OutputPrinter::note(const std::string& text) {
    write(true, terminal_text(text, false) + "\n");
}

void OutputPrinter::show_status(const std::string& text, std::size_t columns) {
    if (paused_) {
        return;
    }
    erase_status();
    if (!text.empty()) {
        const std::string visible = terminal_text(text, false);
        const std::string_view line = first_columns(visible, columns - 1);
        std::fwrite(line.data(), 1, line.size(), stderr);
        std::fflush(stderr);
        shows_status_ = true;
    }
}

void OutputPrinter::erase_status() {
    if (std::exchange(shows_status_, false)) {
        std::fputs("\r\x1b[K", stderr);
        std::fflush(stderr);
    }
}

void OutputPrinter::pause() {
    erase_status();
    ++paused_;
}

void OutputPrinter::resume() {
    if (--paused_ > 0) {
        return; // of another prompt
    }
    write(false, std::exchange(pending_stdout_, {}));
    write(true, std::exchange(pending_stderr_, {}));
    if (const std::size_t dropped = std::exchange(dropped_, 0)) {
        note(fmt::format("[{} bytes of output that came during a question were not shown]", dropped));
    }
}

void OutputPrinter::write(bool to_stderr, const std::string& text) {
    if (paused_) {
        if (pending_stdout_.size() + pending_stderr_.size() + text.size() > max_buffered_bytes) {
            dropped_ += text.size();
            return;
        }
        (to_stderr ? pending_stderr_ : pending_stdout_) += text;
        return;
    }
    erase_status();
    std::FILE* stream = to_stderr ? stderr : stdout;
    // Text that is longer than the stream's buffer is written by fwrite() itself.
    const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
    if (written || std::exchange(to_stderr ? stderr_broken_ : stdout_broken_, true)) {
        return;
    }
    if (errno == EPIPE) {
        std::raise(SIGINT); // the reader has closed the pipe: stop as on ctrl-C
    } else if (!to_stderr) {
        note(fmt::format("cellgate: the output cannot be written: {}", std::generic_category().message(errno)));
    }
}

} // namespace cellgate::cli
