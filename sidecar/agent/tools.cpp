#include "tools.hpp"

#include "mcp/content.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace cellgate::agent {

namespace {

protocol::ToolAnnotations annotations_of(Effect effect) {
    const auto is_one_of = [effect](std::initializer_list<Effect> effects) {
        return std::find(effects.begin(), effects.end(), effect) != effects.end();
    };
    protocol::ToolAnnotations annotations;
    annotations.read_only_hint = is_one_of({Effect::reads, Effect::searches});
    annotations.destructive_hint = is_one_of({Effect::replaces, Effect::removes, Effect::runs});
    annotations.idempotent_hint = !is_one_of({Effect::adds, Effect::removes, Effect::runs});
    annotations.open_world_hint = is_one_of({Effect::searches, Effect::fetches, Effect::runs});
    return annotations;
}

constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"js", "javascript"}, {"node", "javascript"}, {"ts", "typescript"}, {"sh", "bash"}};

} // namespace

std::optional<std::string> kernel_language_of(std::optional<std::string> language) {
    for (const auto& [other, usual] : other_names) {
        if (language == other) {
            return std::string(usual);
        }
    }
    return language;
}

protocol::ToolSpec tool_spec(std::string name, std::string title, Effect effect, std::string description,
                             std::string_view input_schema, std::string_view output_schema) {
    protocol::ToolSpec spec;
    spec.name = std::move(name);
    spec.title = std::move(title);
    spec.annotations = annotations_of(effect);
    spec.description = std::move(description);
    spec.input_schema = RawJson::parse(input_schema);
    if (!output_schema.empty()) {
        spec.output_schema = RawJson::parse(output_schema);
    }
    return spec;
}

protocol::CallToolResult json_result(const RawJson& value) {
    protocol::CallToolResult result = mcp::text_result(value.text());
    result.structured_content = value;
    return result;
}

} // namespace cellgate::agent
