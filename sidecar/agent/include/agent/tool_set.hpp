#pragma once
// `ToolSet` is the tools that `cellgate mcp` offers, by the name that --as takes.

#include <string>
#include <string_view>
#include <vector>

namespace cellgate::agent {

struct ToolSet {
    std::string_view name;
    std::string_view instructions;       // for the model
    std::vector<std::string_view> tools; // empty: all
};

inline constexpr std::string_view default_tool_set = "few";

const std::vector<ToolSet>& tool_sets();
// Throws Error{config_invalid} if there is none of that name.
const ToolSet& find_tool_set(std::string_view name);

} // namespace cellgate::agent
