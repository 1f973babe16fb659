#include "result_check.hpp"

#include "base/json_scan.hpp"
#include "server_errors.hpp"
#include "tools/argument_check.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::tools {

namespace {

constexpr std::size_t max_shown_structure = 4096;
constexpr std::string_view proxy_note =
    "this server runs in the sandbox, where connections go through a proxy. fetch of Node before 22.21 uses "
    "none, and says only \"fetch failed\". Start the server with a newer Node, or take what docs/network.md of "
    "cellgate lists.";

std::string text_block(std::string_view text) {
    std::string block = R"({"type":"text","text":)";
    append_json_string(block, text);
    return block + "}";
}

// Code reads it, so it stays as it is.
bool is_document(const protocol::CallToolResult& result) {
    const std::vector<std::string_view> blocks = json_elements(result.content.text());
    return result.structured_content || std::any_of(blocks.begin(), blocks.end(), [](std::string_view block) {
               return !check_json(json_member_text(block, "text").value_or(""));
           });
}

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
    std::string blocks = "[" + text_block(said);
    for (const std::string_view block : json_elements(result.content.text())) {
        blocks += ',';
        blocks += block;
    }
    protocol::CallToolResult failed;
    failed.content = RawJson::checked(blocks + "]");
    failed.is_error = true;
    return failed;
}

protocol::CallToolResult with_proxy_note(protocol::CallToolResult result) {
    if (result.is_error.value_or(false) && result.content.text().find("fetch failed") != std::string::npos) {
        return with_notes(std::move(result), {std::string(proxy_note)});
    }
    return result;
}

protocol::CallToolResult with_notes(protocol::CallToolResult result, const std::vector<std::string>& notes) {
    if (notes.empty() || (!result.is_error.value_or(false) && is_document(result))) {
        return result;
    }
    std::string added;
    for (const std::string& note : notes) {
        added += "," + text_block(fmt::format("[cellgate: {}]", note));
    }
    const std::string_view blocks = trim_json(result.content.text());
    const bool none = json_elements(blocks).empty();
    result.content = RawJson::checked(none ? "[" + added.substr(1) + "]"
                                           : std::string(blocks.substr(0, blocks.size() - 1)) + added + "]");
    return result;
}

} // namespace cellgate::tools
