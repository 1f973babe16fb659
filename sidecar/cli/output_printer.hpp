#pragma once
// Prints a cell's output: text to stdout (stderr's to stderr), the text form of results, tracebacks; pictures are
// named, not drawn. While a person is asked something, output is held back, so that it cannot pass for the question.
// When nobody reads any more, the process gets SIGINT.

#include "base/raw_json.hpp"

#include <string>

namespace cellgate::cli {

class OutputPrinter {
  public:
    OutputPrinter();

    // An output as the protocol has it.
    void print(const RawJson& output);
    // A remark of ours, on stderr.
    void note(const std::string& text);
    void hold();
    void release();

  private:
    void write(bool to_stderr, const std::string& text);

    bool colours_;
    bool held_ = false;
    bool stdout_broken_ = false; // what was written did not arrive
    bool stderr_broken_ = false;
    std::string held_out_;
    std::string held_error_;
    std::size_t dropped_ = 0; // bytes that came while more than enough was held
};

} // namespace cellgate::cli
