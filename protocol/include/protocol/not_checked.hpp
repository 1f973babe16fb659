#pragma once
// `not_checked` is the finding that nothing read the code, so that "nothing was found" is never reported for it.

#include "protocol/messages/kernels.hpp"

#include <optional>

namespace cellgate::protocol {

// An error at the first line, with what a checker needs; nothing if one read the code.
std::optional<Diagnostic> not_checked(const ValidateResult& result);

} // namespace cellgate::protocol
