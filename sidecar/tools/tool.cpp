#include "tool.hpp"

#include "base/hash.hpp"
#include "server_errors.hpp"

#include <algorithm>

namespace cellgate::tools {

namespace {

constexpr std::size_t max_title_bytes = 200;
constexpr std::size_t max_description_bytes = std::size_t{16} << 10;

} // namespace

std::string definition_of(const protocol::ToolSpec& spec) {
    return to_json(spec);
}

ToolPtr make_tool(protocol::ToolSpec spec, std::string server_identity) {
    const auto tool = std::make_shared<Tool>();
    tool->identity = sha256(definition_of(spec));
    tool->spec = std::move(spec);
    tool->server_identity = std::move(server_identity);
    return tool;
}

ToolPtr find_tool(const std::vector<ToolPtr>& tools, const std::string& name) {
    const auto entry =
        std::find_if(tools.begin(), tools.end(), [&](const ToolPtr& each) { return each->spec.name == name; });
    return entry == tools.end() ? nullptr : *entry;
}

protocol::Hints hints_of(const protocol::ToolSpec& spec) {
    protocol::Hints hints;
    hints.title = spec.title;
    hints.description = spec.description;
    if (spec.annotations) {
        if (!hints.title) {
            hints.title = spec.annotations->title;
        }
        hints.read_only_hint = spec.annotations->read_only_hint;
        hints.destructive_hint = spec.annotations->destructive_hint;
        hints.idempotent_hint = spec.annotations->idempotent_hint;
        hints.open_world_hint = spec.annotations->open_world_hint;
    }
    return hints;
}

std::vector<protocol::ToolInfo> infos_of(const std::vector<ToolPtr>& tools) {
    std::vector<protocol::ToolInfo> infos;
    for (const ToolPtr& tool : tools) {
        protocol::ToolInfo& info = infos.emplace_back();
        info.name = tool->spec.name;
        info.input_schema = tool->spec.input_schema;
        info.output_schema = tool->spec.output_schema;
        info.hints = hints_of(tool->spec);
        if (info.hints.title) {
            info.hints.title = shortened(*info.hints.title, max_title_bytes);
        }
        if (info.hints.description) {
            info.hints.description = shortened(*info.hints.description, max_description_bytes, true);
        }
    }
    return infos;
}

} // namespace cellgate::tools
