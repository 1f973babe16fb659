#pragma once
// The kernel's message content as Output and KernelError. Content is valid JSON, an object, and untrusted.

#include "jupyter/output.hpp"
#include "jupyter/wire.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace cellgate::jupyter {

std::optional<OutputType> output_type(std::string_view msg_type);
// Throws Error{parse_error} when the content is no output of that type.
Output read_output(OutputType type, std::string_view content);
// Text on stderr from us, in the place of an output that was dropped.
Output notice(std::string_view text);

// Of an `error` message or an `execute_reply`; what is missing or of another type stays empty.
KernelError read_error(std::string_view content);
// The error as an output, by its name alone: what a reply has as a traceback may be an earlier error's.
Output error_output(const KernelError& error);

// The `payload` of an `execute_reply`: texts that a kernel gives for a pager, or as the next input, come as outputs.
// What is missing or of another type is left out.
struct Payload {
    std::vector<Output> shown;
    bool asks_exit = false; // the code ends its kernel
};
Payload read_payload(std::string_view content);

} // namespace cellgate::jupyter
