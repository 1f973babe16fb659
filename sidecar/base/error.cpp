#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace cellgate {

namespace {

struct Kind {
    ErrorCode code;
    std::string_view name;
};

constexpr std::array kinds = {
    Kind{ErrorCode::parse_error, "parseError"},
    Kind{ErrorCode::invalid_request, "invalidRequest"},
    Kind{ErrorCode::method_not_found, "methodNotFound"},
    Kind{ErrorCode::invalid_params, "invalidParams"},
    Kind{ErrorCode::internal_error, "internalError"},
    Kind{ErrorCode::server_not_initialized, "serverNotInitialized"},
    Kind{ErrorCode::request_cancelled, "requestCancelled"},
    Kind{ErrorCode::session_not_found, "sessionNotFound"},
    Kind{ErrorCode::session_exists, "sessionExists"},
    Kind{ErrorCode::kernel_start_failed, "kernelStartFailed"},
    Kind{ErrorCode::kernel_died, "kernelDied"},
    Kind{ErrorCode::sandbox_unavailable, "sandboxUnavailable"},
    Kind{ErrorCode::execution_not_found, "executionNotFound"},
    Kind{ErrorCode::execution_exists, "executionExists"},
    Kind{ErrorCode::kernel_not_found, "kernelNotFound"},
    Kind{ErrorCode::busy, "busy"},
    Kind{ErrorCode::approval_resolved, "approvalResolved"},
    Kind{ErrorCode::approval_not_found, "approvalNotFound"},
    Kind{ErrorCode::edit_invalid, "editInvalid"},
    Kind{ErrorCode::forbidden, "forbidden"},
    Kind{ErrorCode::denied, "denied"},
    Kind{ErrorCode::rule_invalid, "ruleInvalid"},
    Kind{ErrorCode::policy_unreadable, "policyUnreadable"},
    Kind{ErrorCode::tool_server_not_found, "toolServerNotFound"},
    Kind{ErrorCode::tool_server_failed, "toolServerFailed"},
    Kind{ErrorCode::tool_not_found, "toolNotFound"},
    Kind{ErrorCode::arguments_invalid, "argumentsInvalid"},
    Kind{ErrorCode::config_invalid, "configInvalid"},
    Kind{ErrorCode::wrapper_failed, "wrapperFailed"},
    Kind{ErrorCode::store_failed, "storeFailed"},
    Kind{ErrorCode::limit_exceeded, "limitExceeded"},
    Kind{ErrorCode::unsupported, "unsupported"},
};

} // namespace

std::string_view kind_of(ErrorCode code) {
    const auto* const kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const Kind& each) { return each.code == code; });
    return kind == kinds.end() ? "internalError" : kind->name;
}

Error::Error(ErrorCode code_, std::string message_, std::string hint_)
    : code(code_), message(std::move(message_)), hint(std::move(hint_)) {}

Error system_error(ErrorCode code, const std::string& what_failed, int error_number, std::string hint) {
    return Error(code, what_failed + ": " + std::strerror(error_number), std::move(hint));
}

} // namespace cellgate
