#pragma once
// `failed` is the error of all that an MCP server or the way to it does wrong.

#include "base/error.hpp"

#include <string>
#include <utility>

namespace cellgate::mcp {

inline Error failed(std::string message, std::string hint = {}) {
    return Error(ErrorCode::tool_server_failed, std::move(message), std::move(hint));
}

} // namespace cellgate::mcp
