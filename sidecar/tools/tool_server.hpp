#pragma once
// `ToolServer` is a server of tools that can be called now: a built-in one, or an MCP server that runs. Only
// RunningServers hands it out, and only the registry and its dispatcher hold a RunningServers; so every call has passed
// the gate.

#include "base/task.hpp"
#include "gate/action.hpp"
#include "mcp/call_follower.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "tool.hpp"
#include "tools/call_context.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cellgate::tools {

class ToolServer {
  public:
    ToolServer() = default;
    ToolServer(const ToolServer&) = delete;
    ToolServer& operator=(const ToolServer&) = delete;
    virtual ~ToolServer() = default;

    // False once it was stopped or has ended: then another one has to be started.
    virtual bool is_usable() const = 0;
    // As they were when they were last read.
    virtual const std::vector<ToolPtr>& tools() const = 0;
    // Reads the tools again if the server reported that they changed. Throws Error{tool_server_failed}.
    virtual Task<void> refresh() = 0;

    // What a call of `tool` with these arguments, which fit its schema, is a call of: usually that.
    virtual Task<std::pair<ToolPtr, RawJson>> resolve(ToolPtr tool, RawJson arguments) {
        co_return std::pair(std::move(tool), std::move(arguments));
    }
    // Throws Error{denied} for a call that would be refused even if it were allowed, so that no user is asked about it.
    virtual Task<void> check(ToolPtr tool, RawJson arguments) = 0;
    // A call of the tool, as the gate is asked about it, with the command that it starts, if it starts one. The
    // arguments fit the tool's schema.
    virtual gate::Action action_of(const Tool& tool, RawJson arguments) const = 0;
    // Whether a user may change the arguments of a call that is asked about.
    virtual bool may_be_edited() const { return true; }
    // `allowed` is an action of action_of() that the gate allowed. Nothing when the server's tool is not (or no longer)
    // exactly `tool`: then the call has to be decided about again. `context`: on whose behalf. `follower` may be
    // nullptr. Throws mcp::RequestNotTaken for a call that another server, started now, may be given.
    virtual Task<std::optional<protocol::CallToolResult>> call(ToolPtr tool, gate::Action allowed, CallContext context,
                                                               std::shared_ptr<mcp::CallFollower> follower) = 0;

    // Adds a line to what toolServers/log shows.
    virtual void add_to_log(const std::string& /*line*/) {}

    // Ends the server, with this cause for the calls that it has.
    virtual Task<void> stop(std::string reason) = 0;
};

} // namespace cellgate::tools
