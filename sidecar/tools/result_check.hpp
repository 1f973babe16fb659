#pragma once
// `checked_result` is a tool's answer once its structure was checked against the output schema of the tool. One that
// certainly does not fit becomes an answer that says that the tool failed, with the problem, the structure, and the
// blocks that came with it. A failure that the sandbox explains says so.

#include "protocol/messages/tool_servers.hpp"
#include "protocol/tool_spec.hpp"

#include <string>
#include <vector>

namespace cellgate::tools {

protocol::CallToolResult checked_result(const protocol::ToolSpec& tool, protocol::CallToolResult result);

// Node's fetch says no more than "fetch failed" where it has no route. `result` is of a server in the sandbox.
protocol::CallToolResult with_proxy_note(protocol::CallToolResult result);

// What explains the result, in lines added to it: why it failed, or why its server got no answer to a question. A
// result that is JSON and no failure stays as it is.
protocol::CallToolResult with_notes(protocol::CallToolResult result, const std::vector<std::string>& notes);

} // namespace cellgate::tools
