#pragma once
// `output_text` is an output of a cell as text: what was printed, the text form of results, tracebacks. Pictures are
// named, not drawn.

#include "base/raw_json.hpp"

#include <string>

namespace cellgate::cli {

struct OutputText {
    bool is_error = false; // stderr, or a traceback
    std::string text;
};

// Of an output as the protocol has it. `colours`: see terminal_text(). An output that cannot be read is said to be one.
OutputText output_text(const RawJson& output, bool colours);

} // namespace cellgate::cli
