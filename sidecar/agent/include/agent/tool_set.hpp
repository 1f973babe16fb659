#pragma once
// `ToolSet` is the tools that `cellgate mcp` offers, by the name that --as takes.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cellgate::agent {

// Whose tools they are: each family has tools, and settings, of its own.
enum class ToolFamily { cellgate, python_sandbox, sandboxmcp };

// What the protocol calls a parameter, and what a tool does. The first one that fits is taken.
using ParameterNames = std::vector<std::pair<std::string_view, std::string_view>>;

struct ToolSet {
    std::string_view name;
    std::string_view instructions;       // for the model
    std::vector<std::string_view> tools; // of the family; empty: all
    ToolFamily family = ToolFamily::cellgate;
    ParameterNames names = {}; // for errors of the sidecar
};

inline constexpr std::string_view default_tool_set = "few";

const std::vector<ToolSet>& tool_sets();
// Throws Error{config_invalid} if there is none of that name.
const ToolSet& find_tool_set(std::string_view name);

} // namespace cellgate::agent
