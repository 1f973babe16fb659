#pragma once
// `tool_remark` is what a user has to know of the tool that a rule or an action names: that its server has none of that
// name, that there is no such server, or that its tools are not known. A rule for a misspelt name protects nothing.

#include "protocol/messages/tool_servers.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::cli {

// `servers`: those that the workspace's sidecar knows, or, where none runs, those of the workspace's files. Empty:
// there is such a tool. Without a tool, all of the server are meant.
std::string tool_remark(const std::vector<protocol::ToolServerInfo>& servers, bool sidecar_runs,
                        const std::string& server, const std::optional<std::string>& tool);

} // namespace cellgate::cli
