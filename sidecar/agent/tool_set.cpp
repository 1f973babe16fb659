#include "agent/tool_set.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::agent {

namespace {

constexpr std::string_view instructions =
    "Runs code in a stateful, sandboxed kernel beside the user's editor. Write code that calls tools instead of "
    "calling them one by one: generate_wrappers makes a Python package of an MCP server's tools, search_tools and "
    "describe_tool say what there is, and execute runs the code. What leaves the sandbox may wait for a user's "
    "answer; a denial says why, and asking again the same way will not change it.";

constexpr std::string_view ipybox_instructions =
    "Runs Python code in a stateful, sandboxed IPython kernel beside the user's editor, with ipybox's tools. Write "
    "code that calls the tools of MCP servers instead of calling them one by one: register_mcp_server makes a Python "
    "package of a server's tools, mcptools.NAME, with a module for each, and execute_ipython_cell runs the code that "
    "imports it. What leaves the sandbox may wait for a user's answer; a denial says why, and asking again the same "
    "way will not change it.";

constexpr std::string_view python_sandbox_instructions =
    "Runs Python code in a sandbox. Each call of execute_code has fresh variables. What leaves the sandbox may wait "
    "for "
    "a user's answer; a denial says why, and asking again the same way will not change it.";

constexpr std::string_view sandboxmcp_instructions = "Runs Python, Node.js and shell code in a sandbox. Code without a "
                                                     "session has fresh variables; create_session starts "
                                                     "one that keeps them. What leaves the sandbox may wait for a "
                                                     "user's answer; a denial says why, and asking again the "
                                                     "same way will not change it.";

ParameterNames own_names() {
    return {{"params.timeoutSeconds", "timeout"},
            {"params.packages[0]", "package_name"},
            {"params.sessionId", "session"},
            {"params.", ""}};
}

ParameterNames python_sandbox_names() {
    return {
        {"params.timeoutSeconds", "timeout"}, {"params.limits.memoryBytes", "memory_limit, in bytes"}, {"params.", ""}};
}

ParameterNames sandboxmcp_names() {
    return {{"params.timeoutSeconds", "timeout_seconds"},
            {"params.limits.memoryBytes", "max_ram_mb, in bytes"},
            {"params.limits.cpuCores", "max_cpu_cores"},
            {"params.limits.processCount", "max_processes"},
            {"params.limits.wallSeconds", "timeout_seconds"},
            {"params.packages[0]", "package"},
            {"params.sessionId", "session_id"},
            {"params.", ""}};
}

} // namespace

const std::vector<ToolSet>& tool_sets() {
    static const std::vector<ToolSet> sets = {
        {default_tool_set,
         instructions,
         {"execute", "read_output", "search_tools", "describe_tool", "generate_wrappers", "install_package", "reset"},
         ToolFamily::cellgate,
         own_names()},
        {"all", instructions, {}, ToolFamily::cellgate, own_names()},
        {"ipybox",
         ipybox_instructions,
         {"register_mcp_server", "execute_ipython_cell", "install_package", "reset"},
         ToolFamily::cellgate,
         own_names()},
        {"python-sandbox", python_sandbox_instructions, {}, ToolFamily::python_sandbox, python_sandbox_names()},
        {"sandboxmcp", sandboxmcp_instructions, {}, ToolFamily::sandboxmcp, sandboxmcp_names()},
    };
    return sets;
}

const ToolSet& find_tool_set(std::string_view name) {
    const std::vector<ToolSet>& sets = tool_sets();
    const auto found = std::find_if(sets.begin(), sets.end(), [&](const ToolSet& each) { return each.name == name; });
    if (found == sets.end()) {
        throw Error(ErrorCode::config_invalid, fmt::format("there is no set of tools {}", name));
    }
    return *found;
}

} // namespace cellgate::agent
