#include "tools.hpp"

#include "mcp/content.hpp"

namespace cellgate::agent {

protocol::ToolSpec tool_spec(std::string name, std::string description, std::string_view input_schema,
                             std::string_view output_schema) {
    protocol::ToolSpec spec;
    spec.name = std::move(name);
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
