#pragma once
// `OutputPrinter` is the printer of a cell's output: text to stdout (stderr's to stderr), the text form of results,
// tracebacks; pictures are named, not drawn. During a prompt the output is buffered, so that it cannot imitate the
// prompt. When nothing reads the output any more, the process gets SIGINT.

#include "base/raw_json.hpp"

#include <string>

namespace cellgate::cli {

class OutputPrinter {
  public:
    OutputPrinter();

    // An output as the protocol has it.
    void print(const RawJson& output);
    // A line on stdout.
    void print_line(const std::string& line);
    // A remark of cellgate's own, on stderr.
    void note(const std::string& text);
    // In the terminal's last line, on stderr, until something else is written. An empty text removes it.
    void show_status(const std::string& text, std::size_t columns);
    void pause();
    void resume();

  private:
    void write(bool to_stderr, const std::string& text);
    void erase_status();

    bool colours_;
    int paused_ = 0; // prompts
    bool shows_status_ = false;
    bool stdout_broken_ = false; // a write failed
    bool stderr_broken_ = false;
    std::string pending_stdout_;
    std::string pending_stderr_;
    std::size_t dropped_ = 0; // bytes beyond the limit of the buffer
};

} // namespace cellgate::cli
