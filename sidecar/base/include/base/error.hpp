#pragma once
// `Error` is the one exception type between coroutines. Its message says what was expected and what was found; `hint`
// says what a user can do. At the protocol's edge an Error becomes a JSON-RPC error with the same code; the codes are
// made from schemas/errors.json, and are never renumbered.

#include "base/error_code.hpp"

#include <exception>
#include <string>
#include <string_view>

namespace cellgate {

struct Error : std::exception {
    Error(ErrorCode code, std::string message, std::string hint = {});

    const char* what() const noexcept override { return message.c_str(); }

    ErrorCode code;
    std::string message;
    std::string hint;
};

// Thrown by an await when the awaiting task was cancelled.
struct Cancelled : Error {
    Cancelled() : Error(ErrorCode::request_cancelled, "cancelled") {}
};

// Error{code} with strerror's text: "cannot open /x: Permission denied".
Error system_error(ErrorCode code, const std::string& what_failed, int error_number, std::string hint = {});

} // namespace cellgate
