#include "mcp/content.hpp"

#include "base/json_scan.hpp"

namespace cellgate::mcp {

void Content::begin() {
    if (!blocks_.empty()) {
        blocks_ += ',';
    }
}

void Content::add_text(std::string_view text) {
    begin();
    blocks_ += R"({"type":"text","text":)";
    append_json_string(blocks_, text);
    blocks_ += '}';
}

void Content::add_image(std::string_view mime, std::string_view base64) {
    begin();
    blocks_ += R"({"type":"image","mimeType":)";
    append_json_string(blocks_, mime);
    blocks_ += R"(,"data":)";
    append_json_string(blocks_, base64);
    blocks_ += '}';
}

protocol::CallToolResult text_result(std::string_view text) {
    Content content;
    content.add_text(text);
    protocol::CallToolResult result;
    result.content = content.blocks();
    return result;
}

protocol::CallToolResult error_result(std::string_view text) {
    protocol::CallToolResult result = text_result(text);
    result.is_error = true;
    return result;
}

} // namespace cellgate::mcp
