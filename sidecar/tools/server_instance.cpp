#include "server_instance.hpp"

#include "base/hash.hpp"
#include "base/log.hpp"
#include "server_errors.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::tools {

namespace {

constexpr std::size_t max_title_bytes = 200;
constexpr std::size_t max_description_bytes = std::size_t{16} << 10;

} // namespace

void Registry::ServerInstance::take(const mcp::ToolList& list) {
    tools.clear();
    for (const protocol::ToolSpec& spec : list.tools) {
        tools.push_back(std::make_shared<Tool>(Tool{spec, identity_of(spec), identity}));
    }
    for (const protocol::SkippedTool& skipped : list.skipped) {
        log_warning("the tool server {}: {} is left out: {}", in_quotes(name), skipped.tool, skipped.reason);
    }
}

std::vector<protocol::ToolInfo> Registry::ServerInstance::tool_infos() const {
    std::vector<protocol::ToolInfo> infos;
    for (const std::shared_ptr<const Tool>& tool : tools) {
        infos.push_back(info_of_tool(tool->spec));
    }
    return infos;
}

std::shared_ptr<const Registry::Tool> Registry::ServerInstance::find(const std::string& tool) const {
    const auto entry =
        std::find_if(tools.begin(), tools.end(), [&](const auto& each) { return each->spec.name == tool; });
    return entry == tools.end() ? nullptr : *entry;
}

protocol::ToolInfo info_of_tool(const protocol::ToolSpec& spec) {
    protocol::ToolInfo info;
    info.name = spec.name;
    info.input_schema = spec.input_schema;
    info.output_schema = spec.output_schema;
    const std::optional<std::string> title = spec.title || !spec.annotations ? spec.title : spec.annotations->title;
    if (title) {
        info.hints.title = shortened(*title, max_title_bytes);
    }
    if (spec.description) {
        info.hints.description = shortened(*spec.description, max_description_bytes, true);
    }
    if (spec.annotations) {
        info.hints.read_only_hint = spec.annotations->read_only_hint;
        info.hints.destructive_hint = spec.annotations->destructive_hint;
        info.hints.idempotent_hint = spec.annotations->idempotent_hint;
        info.hints.open_world_hint = spec.annotations->open_world_hint;
    }
    return info;
}

std::string identity_of(const protocol::ToolSpec& spec) {
    return sha256(to_json(spec));
}

const std::string& host_identity() {
    static const std::string identity = sha256("the tool server that is part of cellgate");
    return identity;
}

void require_allowed(const CallContext& context, const std::string& server) {
    if (context.servers &&
        std::find(context.servers->begin(), context.servers->end(), server) == context.servers->end()) {
        throw Error(ErrorCode::tool_server_not_found,
                    fmt::format("this session may not use the tool server {}", in_quotes(server)),
                    "A user names the tool servers of a session when it is created.");
    }
}

} // namespace cellgate::tools
