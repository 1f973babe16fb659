#pragma once
// `execution_tools` and its neighbours are the tools of `cellgate mcp`, one file for each family.
// They use the SidecarClient, which must outlive them.

#include "mcp/server.hpp"
#include "python_sandbox_settings.hpp"
#include "sandboxmcp_settings.hpp"
#include "sidecar_client.hpp"

#include <string>
#include <vector>

namespace cellgate::agent {

// execute, execute_ipython_cell, read_output. `reads_more`: the last one is offered. `wrapper_tool`: the offered one
// that writes wrappers.
std::vector<mcp::Tool> execution_tools(SidecarClient& sidecar, bool reads_more, std::string_view wrapper_tool);

// reset, interrupt, create_session, close_session, transfer.
// `names_sessions`: reset can be given a session, as execute can.
std::vector<mcp::Tool> session_tools(SidecarClient& sidecar, bool names_sessions);

// validate, runtimes.
std::vector<mcp::Tool> check_tools(SidecarClient& sidecar);

// register_mcp_server, generate_wrappers, list_tools, search_tools, describe_tool.
std::vector<mcp::Tool> catalogue_tools(SidecarClient& sidecar);

// install_package.
mcp::Tool install_tool(SidecarClient& sidecar);

// Those of Python Sandbox Server, with its names and results: execute_code, validate_code, get_sandbox_info,
// list_capabilities.
std::vector<mcp::Tool> python_sandbox_tools(SidecarClient& sidecar, const PythonSandboxSettings& settings);

// The 23 of sandboxmcp, with its names.
std::vector<mcp::Tool> sandboxmcp_tools(SidecarClient& sidecar, const SandboxmcpSettings& settings);

// The language as kernels name it, for one as agents do: js, node, ts, sh.
std::optional<std::string> kernel_language_of(std::optional<std::string> language);

// Of a tool that takes none.
struct NoArguments {
    static constexpr bool closed = true;
    template <class Self, class Visit>
    static void fields(Self&, Visit&) {}
};
inline constexpr std::string_view nothing_input = R"({"type":"object","properties":{},"additionalProperties":false})";

// What a tool does, as far as a client decides by it whether it asks its user.
enum class Effect {
    reads,    // changes nothing
    searches, // changes nothing, and reaches the web
    adds,     // makes something new each time
    sets,     // a second call with the same arguments changes nothing more; nothing is lost
    fetches,  // the same, and reaches hosts or programs that no user configured
    replaces, // something else is lost; a second call with the same arguments changes nothing more
    removes,
    runs, // code or a command of the agent, which can do anything
};

// A tool as a client lists it. `title`: for users. `input_schema`, `output_schema`: JSON; empty: none.
protocol::ToolSpec tool_spec(std::string name, std::string title, Effect effect, std::string description,
                             std::string_view input_schema, std::string_view output_schema = {});

// A result that is JSON, as text and as structured content.
protocol::CallToolResult json_result(const RawJson& value);

} // namespace cellgate::agent
