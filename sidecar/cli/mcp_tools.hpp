#pragma once
// The tools of `cellgate mcp`, one file for each family. Each is a client of the sidecar, through an AgentLink that has
// to outlive it.

#include "agent_link.hpp"
#include "mcp/server.hpp"
#include "mcp_limits.hpp"

#include <string>
#include <vector>

namespace cellgate::cli {

// execute, execute_ipython_cell, reset, interrupt, read_output.
std::vector<mcp::Tool> execution_tools(AgentLink& link, const McpLimits& limits);

// register_mcp_server, generate_wrappers, list_tools, search_tools, describe_tool.
std::vector<mcp::Tool> catalogue_tools(AgentLink& link);

// install_package.
mcp::Tool install_tool(AgentLink& link);

// A tool as a client lists it. `input_schema`, `output_schema`: JSON; empty: none.
protocol::ToolSpec tool_spec(std::string name, std::string description, std::string_view input_schema,
                             std::string_view output_schema = {});

} // namespace cellgate::cli
