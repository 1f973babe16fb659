#pragma once
// `Tool` is a tool as its server offers it, with the identities under which the gate decides about it: that of its
// definition and that of its server. When one of them changes, it is another tool.

#include "protocol/messages/policy.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "protocol/tool_spec.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::tools {

struct Tool {
    protocol::ToolSpec spec;
    std::string identity;                               // of its definition
    std::string server_identity;                        // of the server that offers it
    mutable std::optional<std::uint64_t> fitting_rules; // by the dispatcher: the version of stored rules that fit it
};
using ToolPtr = std::shared_ptr<const Tool>;

// The JSON of which a tool's identity is the SHA-256.
std::string definition_of(const protocol::ToolSpec& spec);

ToolPtr make_tool(protocol::ToolSpec spec, std::string server_identity);

// Nothing if none has that name.
ToolPtr find_tool(const std::vector<ToolPtr>& tools, const std::string& name);

// As the server wrote them.
protocol::Hints hints_of(const protocol::ToolSpec& spec);

// As clients see them: texts are escaped, and cut with a mark.
std::vector<protocol::ToolInfo> infos_of(const std::vector<ToolPtr>& tools);

} // namespace cellgate::tools
