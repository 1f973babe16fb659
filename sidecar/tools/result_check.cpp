#include "result_check.hpp"

#include "base/json_scan.hpp"
#include "server_errors.hpp"
#include "tools/argument_check.hpp"

#include <fmt/format.h>

namespace cellgate::tools {

namespace {

constexpr std::size_t max_shown_structure = 4096;

} // namespace

protocol::CallToolResult checked_result(const protocol::ToolSpec& tool, protocol::CallToolResult result) {
    if (!tool.output_schema || !result.structured_content || result.is_error.value_or(false)) {
        return result;
    }
    const std::optional<std::string> problem =
        check_document(*tool.output_schema, *result.structured_content, "result");
    if (!problem) {
        return result;
    }
    const std::string said =
        fmt::format("the tool's answer does not fit its output schema: {}. The answer's structure: {}", *problem,
                    shortened(result.structured_content->text(), max_shown_structure));
    std::string blocks = R"([{"type":"text","text":)";
    append_json_string(blocks, said);
    blocks += '}';
    for (const std::string_view block : json_elements(result.content.text())) {
        blocks += ',';
        blocks += block;
    }
    protocol::CallToolResult failed;
    failed.content = RawJson::checked(blocks + "]");
    failed.is_error = true;
    return failed;
}

} // namespace cellgate::tools
