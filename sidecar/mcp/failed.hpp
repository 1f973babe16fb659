#pragma once
// `failed` is the error of all that an MCP server or the way to it does wrong.

#include "base/error.hpp"

#include <string>
#include <utility>

namespace cellgate::mcp {

inline Error failed(std::string message, std::string hint = {}) {
    return Error(ErrorCode::tool_server_failed, std::move(message), std::move(hint));
}

// What `read` makes of a server's answer to `method`. Its errors become Error{tool_server_failed}.
template <class Read>
auto read_answer(const std::string& method, Read read) {
    try {
        return read();
    } catch (const Error& broken) {
        throw failed("the server's answer to " + method + " is broken: " + broken.message);
    }
}

} // namespace cellgate::mcp
