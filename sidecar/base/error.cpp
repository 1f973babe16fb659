#include "base/error.hpp"

#include <cstring>
#include <utility>

namespace cellgate {

std::string_view kind_of(ErrorCode code) {
    switch (code) {
    case ErrorCode::parse_error:
        return "parseError";
    case ErrorCode::invalid_request:
        return "invalidRequest";
    case ErrorCode::method_not_found:
        return "methodNotFound";
    case ErrorCode::invalid_params:
        return "invalidParams";
    case ErrorCode::internal_error:
        return "internalError";
    case ErrorCode::server_not_initialized:
        return "serverNotInitialized";
    case ErrorCode::request_cancelled:
        return "requestCancelled";
    case ErrorCode::session_not_found:
        return "sessionNotFound";
    case ErrorCode::session_exists:
        return "sessionExists";
    case ErrorCode::kernel_start_failed:
        return "kernelStartFailed";
    case ErrorCode::kernel_died:
        return "kernelDied";
    case ErrorCode::sandbox_unavailable:
        return "sandboxUnavailable";
    case ErrorCode::execution_not_found:
        return "executionNotFound";
    case ErrorCode::execution_exists:
        return "executionExists";
    case ErrorCode::kernel_not_found:
        return "kernelNotFound";
    case ErrorCode::busy:
        return "busy";
    case ErrorCode::approval_resolved:
        return "approvalResolved";
    case ErrorCode::approval_not_found:
        return "approvalNotFound";
    case ErrorCode::edit_invalid:
        return "editInvalid";
    case ErrorCode::forbidden:
        return "forbidden";
    case ErrorCode::denied:
        return "denied";
    case ErrorCode::rule_invalid:
        return "ruleInvalid";
    case ErrorCode::policy_unreadable:
        return "policyUnreadable";
    case ErrorCode::tool_server_not_found:
        return "toolServerNotFound";
    case ErrorCode::tool_server_failed:
        return "toolServerFailed";
    case ErrorCode::tool_not_found:
        return "toolNotFound";
    case ErrorCode::arguments_invalid:
        return "argumentsInvalid";
    case ErrorCode::config_invalid:
        return "configInvalid";
    case ErrorCode::wrapper_failed:
        return "wrapperFailed";
    case ErrorCode::store_failed:
        return "storeFailed";
    case ErrorCode::limit_exceeded:
        return "limitExceeded";
    case ErrorCode::unsupported:
        return "unsupported";
    }
    return "internalError";
}

Error::Error(ErrorCode code_, std::string message_, std::string hint_)
    : code(code_), message(std::move(message_)), hint(std::move(hint_)) {}

Error system_error(ErrorCode code, const std::string& what_failed, int error_number, std::string hint) {
    return Error(code, what_failed + ": " + std::strerror(error_number), std::move(hint));
}

} // namespace cellgate
