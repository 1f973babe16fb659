#pragma once
// `ToolCallDispatcher` is the one way to call a tool: it finds the tool, refuses arguments that certainly do not fit,
// asks the gate, and calls with exactly the bytes that the gate allowed. The registry makes it, and gives the servers
// that can be called to nothing else.

#include "base/clock.hpp"
#include "base/task.hpp"
#include "gate/action.hpp"
#include "gate/decision.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "tools/call_context.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace cellgate::gate {
class Gate;
}

namespace cellgate::tools {

class Elicitor;
class RunningServers;
class ToolServer;
struct Tool;

class ToolCallDispatcher {
  public:
    // `elicitor` may be nullptr.
    ToolCallDispatcher(Clock& clock, gate::Gate& gate, RunningServers& servers, Elicitor* elicitor)
        : clock_(clock), gate_(gate), servers_(servers), elicitor_(elicitor) {}

    // Throws Error{tool_server_not_found, tool_server_failed, tool_not_found, arguments_invalid, limit_exceeded,
    // denied}. Cancelling resolves a pending approval and tells the tool server. A tool that says itself that it failed
    // answers with is_error.
    Task<protocol::CallToolResult> call(CallContext context, std::string server, std::string tool, RawJson arguments);
    // Whether the call that this decision allowed goes on.
    bool is_running(gate::ActionId decision) const { return running_.contains(decision); }
    // Ends it, if it goes on: its caller gets Error{request_cancelled}.
    void cancel(gate::ActionId decision);

  private:
    // The rules that are in force and cannot match what they are about: a deny rule denies the call, since it may be
    // the one that it was written for; the others are logged.
    void require_fitting_rules(const CallContext& context, const std::string& server, const ToolServer& offering,
                               const Tool& tool) const;
    // Reports a call whose results a user wants to see first.
    Task<void> note_review(const CallContext* context, const gate::Action* action);
    // Nothing when the tool is another one by now.
    Task<std::optional<protocol::CallToolResult>>
    call_allowed(CallContext context, std::string server, std::shared_ptr<const Tool> tool, gate::Decision decision);

    Clock& clock_;
    gate::Gate& gate_;
    RunningServers& servers_;
    Elicitor* elicitor_;
    std::map<gate::ActionId, Event*> running_; // calls that were allowed, and what ends them
};

} // namespace cellgate::tools
