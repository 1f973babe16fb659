#pragma once
// What a kernel says while code runs. Bodies are spliced from the kernel's own text, which was checked as JSON but
// never built into values: a picture costs a copy, not a parse. Nothing in here may be trusted, least of all as a path.

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

// A place in the user's code: in the cell of an execution, or in a file. The kernel's word.
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
    std::vector<Frame> frames; // outermost first; empty when the kernel does not report them
    bool was_printed = false;  // the kernel wrote it to stderr, in place of a message
};

} // namespace cellgate::jupyter
