#pragma once
// `Output` and `KernelError` are a kernel's output while code runs. Bodies are slices of the kernel's own text, which
// was checked as JSON but never parsed into values: a picture costs a copy, not a parse. All of it is untrusted, in
// particular as a path.

#include "base/raw_json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::jupyter {

enum class OutputType { stream, display_data, execute_result, error, clear_output, update_display_data };

struct Output {
    OutputType type = OutputType::stream;
    // An output object of nbformat 4 with `output_type` first; display_data and update_display_data may also have
    // `transient: {display_id}`. clear_output: `{output_type, wait}`.
    RawJson body;
};

// A location in the user's code: in the cell of an execution, or in a file. Untrusted.
struct Frame {
    std::optional<std::string> execution;
    std::optional<std::string> path;
    std::int64_t line = 0; // 0-based
    std::string function;
};

struct KernelError {
    std::string ename;
    std::string evalue;
    std::vector<std::string> traceback;
    std::vector<Frame> frames; // outermost first; empty if the kernel does not report them
    bool was_printed = false;  // the kernel wrote it to stderr instead of sending a message
};

} // namespace cellgate::jupyter
