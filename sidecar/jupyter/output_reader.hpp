#pragma once
// The kernel's message content as Output and KernelError. Content is valid JSON, an object, and untrusted.

#include "jupyter/output.hpp"
#include "jupyter/wire.hpp"

#include <optional>
#include <string_view>

namespace cellgate::jupyter {

std::optional<OutputType> output_type(std::string_view msg_type);
// Throws Error{parse_error} when the content is no output of that type.
Output read_output(OutputType type, std::string_view content);
// Text on stderr from us, in the place of an output that was dropped.
Output notice(std::string_view text);

// Of an `error` message or an `execute_reply`; what is missing or of another type stays empty.
KernelError read_error(std::string_view content);

} // namespace cellgate::jupyter
