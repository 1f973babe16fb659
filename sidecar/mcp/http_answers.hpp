#pragma once
// `http_answers` reads the answers of MCP servers over HTTP: media types, bodies, and what a refusal says.

#include "async/http.hpp"
#include "base/error.hpp"

#include <string>
#include <string_view>

namespace cellgate::mcp {

inline constexpr std::string_view json_type_name = "application/json";
inline constexpr std::string_view events_type_name = "text/event-stream";
inline constexpr std::size_t max_error_bytes = std::size_t{64} << 10; // of the body of an answer that is an error

inline bool succeeded(const async::HttpHead& head) {
    return head.status >= 200 && head.status < 300;
}
// Without parameters, in lower case.
std::string media_type(const async::HttpHead& head);
// Throws Error{limit_exceeded} for one that is longer.
Task<std::string> whole_body(async::HttpExchange* exchange, std::size_t max_bytes);
// What an answer that is no success says, with what a user can do.
Error refusal(const async::HttpHead& head, std::string_view body);

} // namespace cellgate::mcp
