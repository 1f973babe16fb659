#pragma once
// `ToolCallDispatcher` is the one way to call a tool: it finds the tool, refuses arguments that certainly do not fit,
// asks the gate, and calls with exactly the bytes that the gate allowed.

#include "base/task.hpp"
#include "gate/action.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "tools/call_context.hpp"
#include "tools/registry.hpp"

#include <string>

namespace cellgate::gate {
class Gate;
}

namespace cellgate::tools {

class ToolCallDispatcher {
  public:
    ToolCallDispatcher(gate::Gate& gate, Registry& registry) : gate_(gate), registry_(registry) {}

    // Throws Error{tool_server_not_found, tool_server_failed, tool_not_found, arguments_invalid, limit_exceeded,
    // denied}. Cancelling resolves a pending approval and tells the tool server. A tool that says itself that it failed
    // answers with is_error.
    Task<protocol::CallToolResult> call(CallContext context, std::string server, std::string tool, RawJson arguments);

  private:
    gate::Action action_of(const Registry::Tool& tool, const std::string& server, const RawJson& arguments) const;

    gate::Gate& gate_;
    Registry& registry_;
};

} // namespace cellgate::tools
