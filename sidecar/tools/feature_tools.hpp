#pragma once
// `FeatureTool` is a resource or a prompt of an MCP server as a tool, so that what there is for tools (the gate,
// wrappers, the terminal, agents) is there for them: resources/list, resources/templates, resources/read and
// resources/subscribe, a tool for each template of addresses, and one for each prompt.

#include "base/clock.hpp"
#include "mcp/client.hpp"
#include "protocol/tool_spec.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::tools {

struct FeatureTool {
    enum class Kind { list, resource, resource_changes, resource_template, prompt };

    protocol::ToolSpec spec;
    Kind kind = Kind::list;
    std::string target; // the prompt's name, or the template
};

inline constexpr std::string_view read_resource_tool = "resources/read";

// Those of the server. A list that it does not give is left out, with a warning in the log.
Task<std::vector<FeatureTool>> list_features(std::shared_ptr<mcp::Client> client, std::string server, Instant deadline);

// The arguments of resources/read, for a tool of kind resource_template.
RawJson template_arguments(const FeatureTool& tool, const RawJson& arguments);

// Of any other kind. `limit`: of what a server has no reason to take long for. `clock` outlives the call. Throws as
// mcp::Client.
Task<protocol::CallToolResult> call_feature(std::shared_ptr<mcp::Client> client, FeatureTool tool, RawJson arguments,
                                            std::shared_ptr<mcp::CallFollower> follower, Clock* clock, Duration limit);

} // namespace cellgate::tools
