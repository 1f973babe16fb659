#pragma once
// `era_of_posted` checks the fields of a POST against the message that it carries, as the Streamable HTTP transport of
// the message's era has it; `http_status_of` is the status of an answer that is an error.

#include "async/http_server.hpp"
#include "base/error.hpp"
#include "mcp/client.hpp"
#include "protocol/message.hpp"

namespace cellgate::mcp {

// Throws Error with the code of MCP's answer: header_mismatch, unsupported_protocol_version, invalid_params, or
// method_not_found for what the modern era no longer has.
Era era_of_posted(const async::ServedRequest& head, const protocol::Message& message);

// In the legacy era a request that reached its session is answered with 200, whatever the answer says.
int http_status_of(Era era, int error_code);

} // namespace cellgate::mcp
