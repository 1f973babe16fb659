#pragma once
// `SandboxmcpAgent` is what the tools of sandboxmcp share for one agent. The tools are in three files, each a table of
// names, parameters and what they call: code, sessions, and what is outside of the sandbox.

#include "base/sync.hpp"
#include "protocol/messages/kernels.hpp"
#include "sandboxmcp_runs.hpp"
#include "sandboxmcp_settings.hpp"
#include "tools.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::agent {

// Of an execution, or of a session, as sandboxmcp names them.
struct SandboxmcpLimits {
    static constexpr bool closed = true;
    std::optional<double> max_ram_mb;
    std::optional<double> max_cpu_cores;
    std::optional<double> timeout_seconds;
    std::optional<std::int64_t> max_processes;
    std::optional<std::int64_t> max_output_bytes;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("max_ram_mb", self.max_ram_mb);
        visit("max_cpu_cores", self.max_cpu_cores);
        visit("timeout_seconds", self.timeout_seconds);
        visit("max_processes", self.max_processes);
        visit("max_output_bytes", self.max_output_bytes);
    }
};

// Those of a session; empty where none is named.
protocol::Limits session_limits_of(const SandboxmcpLimits& limits);

// What came of a connection. Without a problem, the host was reached.
struct ReachedHost {
    std::optional<std::string> problem;
    bool approved = true; // by a user or a rule
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("problem", self.problem);
        visit("approved", self.approved);
    }
};

struct SandboxmcpAgent {
    SandboxmcpAgent(SidecarClient& sidecar_, const SandboxmcpSettings& settings_)
        : sidecar(sidecar_), settings(settings_) {}

    SidecarClient& sidecar;
    SandboxmcpSettings settings;
    SandboxmcpRuns runs;
    std::map<std::string, std::string> languages; // of the sessions that create_session made, by id
    std::size_t running = 0;                      // executions
    std::size_t waiting = 0;                      // for max_concurrent
    Condition changed;                            // of `running`

    // A session of that language, with the limits of the settings where none are named.
    Task<protocol::SessionInfo> create_session(std::string language, const SandboxmcpLimits& limits,
                                               std::shared_ptr<mcp::ToolCall> call);
    // Runs Python code that is cellgate's own in a session, unseen, and reads the JSON that it prints. `about` says
    // what for, in a line above it and in the line that runs it.
    Task<RawJson> ask_python(std::string session, std::string about, std::string code,
                             std::shared_ptr<mcp::ToolCall> call);
    // Connects to port 443 of the host from a Python session, so that a user is asked. `asker`: for whom, which the
    // user reads.
    Task<ReachedHost> connect(std::string session, std::string asker, std::string domain,
                              std::shared_ptr<mcp::ToolCall> call);
};

// The kernel's language for python, node or shell, as sandboxmcp names them. Throws Error{invalid_params} for others.
std::string kernel_language(const std::string& language);
std::string sandboxmcp_language(const std::string& kernel_language);

// A Python literal of a text.
std::string python_literal(const std::string& text);

Task<protocol::CallToolResult> json_answer(Task<RawJson> answer);
inline Task<protocol::CallToolResult> json_answer(Task<protocol::CallToolResult> answer) {
    return answer;
}

// A row of a table of tools: `member` of `Tools` takes the typed arguments, and returns a result or its JSON.
template <class Arguments, class Tools, class Answer>
mcp::Tool sandboxmcp_tool(std::shared_ptr<Tools> tools, std::string name, std::string title, Effect effect,
                          std::string description, std::string_view input,
                          Task<Answer> (Tools::*member)(Arguments, std::shared_ptr<mcp::ToolCall>)) {
    return mcp::typed_tool<Arguments>(
        tool_spec(std::move(name), std::move(title), effect, std::move(description), input),
        [tools, member](Arguments arguments, std::shared_ptr<mcp::ToolCall> call) {
            return json_answer((tools.get()->*member)(std::move(arguments), std::move(call)));
        });
}

// execute_code, validate_code, install_package, get_artifacts, audit_execution.
std::vector<mcp::Tool> sandboxmcp_code_tools(std::shared_ptr<SandboxmcpAgent> agent);
// create_session, terminate_session, bridge_data, list_runtimes, set_resource_limits, sandbox_stats, inspect_state,
// request_egress.
std::vector<mcp::Tool> sandboxmcp_session_tools(std::shared_ptr<SandboxmcpAgent> agent);
// web_search, fetch_webpage, browser_fetch, host_exec, request_host_access, list_host_access, host_file_*.
std::vector<mcp::Tool> sandboxmcp_outside_tools(std::shared_ptr<SandboxmcpAgent> agent);

} // namespace cellgate::agent
