#pragma once
// `execution_tools` and its neighbours are the tools of `cellgate mcp`, one file for each family.
// They use the SidecarClient, which must outlive them.

#include "limits.hpp"
#include "mcp/server.hpp"
#include "sidecar_client.hpp"

#include <string>
#include <vector>

namespace cellgate::agent {

// execute, execute_ipython_cell, read_output.
std::vector<mcp::Tool> execution_tools(SidecarClient& sidecar, const UserLimits& limits);

// reset, interrupt, create_session, close_session, transfer.
std::vector<mcp::Tool> session_tools(SidecarClient& sidecar);

// validate, runtimes.
std::vector<mcp::Tool> check_tools(SidecarClient& sidecar);

// register_mcp_server, generate_wrappers, list_tools, search_tools, describe_tool.
std::vector<mcp::Tool> catalogue_tools(SidecarClient& sidecar);

// install_package.
mcp::Tool install_tool(SidecarClient& sidecar);

// Of a tool that takes none.
struct NoArguments {
    static constexpr bool closed = true;
    template <class Self, class Visit>
    static void fields(Self&, Visit&) {}
};
inline constexpr std::string_view nothing_input = R"({"type":"object","properties":{},"additionalProperties":false})";

// A tool as a client lists it. `input_schema`, `output_schema`: JSON; empty: none.
protocol::ToolSpec tool_spec(std::string name, std::string description, std::string_view input_schema,
                             std::string_view output_schema = {});

} // namespace cellgate::agent
