#pragma once
// `Error` is the one exception type between coroutines. Its message says what was expected and what was found; `hint`
// says what a user can do. At the protocol's edge an Error becomes a JSON-RPC error with the same code;
// schemas/errors.json lists the codes, which are never renumbered.

#include <exception>
#include <string>
#include <string_view>

namespace cellgate {

enum class ErrorCode {
    parse_error = -32700,
    invalid_request = -32600,
    method_not_found = -32601,
    invalid_params = -32602,
    internal_error = -32603,
    server_not_initialized = -32002,
    request_cancelled = -32800,

    session_not_found = 1001,
    session_exists = 1002,
    kernel_start_failed = 1003,
    kernel_died = 1004,
    sandbox_unavailable = 1005,
    execution_not_found = 1006,
    execution_exists = 1007,
    kernel_not_found = 1008,
    busy = 1009,
    approval_resolved = 1010,
    approval_not_found = 1011,
    edit_invalid = 1012,
    forbidden = 1013,
    denied = 1014,
    rule_invalid = 1015,
    policy_unreadable = 1016,
    tool_server_not_found = 1017,
    tool_server_failed = 1018,
    tool_not_found = 1019,
    arguments_invalid = 1020,
    config_invalid = 1021,
    wrapper_failed = 1022,
    store_failed = 1023,
    limit_exceeded = 1024,
    unsupported = 1025,
};

// The stable camelCase name of a code ("sessionNotFound"), used in `data.kind` of a JSON-RPC error.
std::string_view kind_of(ErrorCode code);

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
