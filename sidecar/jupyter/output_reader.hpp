#pragma once
// `read_output` and `read_error` read a kernel's message content as Output and KernelError. Content is valid JSON, an
// object, and untrusted.

#include "jupyter/output.hpp"
#include "jupyter/wire.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace cellgate::jupyter {

std::optional<OutputType> output_type(std::string_view msg_type);
// Throws Error{parse_error} when the content is not an output of that type.
Output read_output(OutputType type, std::string_view content);
// A text of ours on stderr, in place of a dropped output.
Output notice(std::string_view text);

// The error of an `error` message or an `execute_reply`; fields that are missing or of another type stay empty.
KernelError read_error(std::string_view content);
// The error as an output, without its traceback: the traceback of a reply may belong to an earlier error.
Output error_output(const KernelError& error);

// The `payload` of an `execute_reply`: texts for a pager, or for the next input, become outputs. Entries of another
// type are ignored.
struct Payload {
    std::vector<Output> shown;
    bool asks_exit = false; // the code ends its kernel
};
Payload read_payload(std::string_view content);

} // namespace cellgate::jupyter
