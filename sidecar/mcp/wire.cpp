#include "wire.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"
#include "base/text.hpp"
#include "parameter_headers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::mcp {

namespace {

constexpr std::size_t max_result_bytes = std::size_t{32} << 20;
constexpr std::size_t max_tool_name_size = 128;

Error not_usable(std::string message) {
    return Error(ErrorCode::tool_server_failed, std::move(message));
}

// Throws unless they are a list of blocks of content.
void require_blocks(std::string_view content) {
    if (json_type(content) != "array") {
        throw not_usable(fmt::format("expected content that is an array, found {}", json_type(content)));
    }
    for (const std::string_view block : json_elements(content)) {
        if (json_type(block) != "object") {
            throw not_usable(fmt::format("expected blocks of content that are objects, found {}", json_type(block)));
        }
        if (!json_member_text(block, "type")) {
            throw not_usable("expected a type in every block of content, found a block without one");
        }
    }
}

// The objects of a list that the result has to have.
std::vector<std::string_view> objects_of(const RawJson& result, std::string_view member) {
    const std::string_view list = json_member(result.text(), member);
    if (list.empty() || json_type(list) != "array") {
        throw not_usable(fmt::format("expected {} that are an array", member));
    }
    std::vector<std::string_view> objects = json_elements(list);
    for (const std::string_view object : objects) {
        if (json_type(object) != "object") {
            throw not_usable(fmt::format("expected {} that are objects, found {}", member, json_type(object)));
        }
    }
    return objects;
}

} // namespace

bool is_legacy_version(std::string_view version) {
    return std::find(legacy_versions.begin(), legacy_versions.end(), version) != legacy_versions.end();
}

std::optional<Implementation> read_implementation(const std::optional<RawJson>& value) {
    if (!value) {
        return std::nullopt;
    }
    try {
        return from_json<Implementation>(*value, "serverInfo");
    } catch (const Error&) {
        return std::nullopt;
    }
}

Features features_of(const std::optional<RawJson>& capabilities) {
    const std::string_view all = capabilities ? capabilities->text() : std::string_view("{}");
    const auto changes = [all](std::string_view feature) {
        return json_member(json_member(all, feature), "listChanged") == "true";
    };
    Features features;
    features.resources = !json_member(all, "resources").empty();
    features.subscriptions = json_member(json_member(all, "resources"), "subscribe") == "true";
    features.prompts = !json_member(all, "prompts").empty();
    features.tasks =
        !json_member(json_member(json_member(json_member(all, "tasks"), "requests"), "tools"), "call").empty();
    features.tools_change = changes("tools");
    features.resources_change = changes("resources");
    features.prompts_change = changes("prompts");
    return features;
}

void require_small(const RawJson& result) {
    if (result.text().size() > max_result_bytes) {
        throw Error(
            ErrorCode::limit_exceeded,
            fmt::format("expected a result of at most {} bytes, found {}", max_result_bytes, result.text().size()),
            "Ask the tool for less at once.");
    }
}

protocol::ToolSpec read_tool(const RawJson& tool) {
    auto spec = from_json<protocol::ToolSpec>(tool, "tool");
    if (spec.name.empty() || count_characters(spec.name) > max_tool_name_size) {
        throw not_usable(fmt::format("expected a name of 1 to {} characters", max_tool_name_size));
    }
    if (!spec.input_schema.is_object()) {
        throw not_usable(fmt::format("expected an inputSchema that is an object, found {}", spec.input_schema.type()));
    }
    parameter_headers(spec.input_schema.text()); // throws for those that break MCP
    if (spec.output_schema && !spec.output_schema->is_object()) {
        throw not_usable(
            fmt::format("expected an outputSchema that is an object, found {}", spec.output_schema->type()));
    }
    return spec;
}

std::string name_of(const RawJson& tool, std::size_t index) {
    const std::string name = json_member_text(tool.text(), "name").value_or("");
    if (!name.empty()) {
        return escape_unprintable(name).substr(0, 2 * max_tool_name_size);
    }
    return fmt::format("tool number {}", index + 1);
}

protocol::CallToolResult read_call_result(const RawJson& result) {
    auto wire = from_json<CallResult>(result, "result");
    if (!wire.content && !wire.structured_content) {
        throw not_usable("the tool's result has no content");
    }
    protocol::CallToolResult call{wire.content.value_or(RawJson::checked("[]")), std::move(wire.structured_content),
                                  wire.is_error};
    require_blocks(call.content.text());
    return call;
}

protocol::CallToolResult read_resource_contents(const RawJson& result) {
    std::string blocks;
    for (const std::string_view contents : objects_of(result, "contents")) {
        if (!json_member_text(contents, "text") && !json_member_text(contents, "blob")) {
            throw not_usable("expected contents with a text or a blob, found some without");
        }
        blocks += fmt::format(R"({}{{"type":"resource","resource":{}}})", blocks.empty() ? "" : ",", contents);
    }
    protocol::CallToolResult call;
    call.content = RawJson::checked("[" + blocks + "]");
    return call;
}

protocol::CallToolResult read_prompt_messages(const RawJson& result) {
    std::string blocks;
    for (const std::string_view message : objects_of(result, "messages")) {
        blocks += (blocks.empty() ? "" : ",") + std::string(json_member(message, "content"));
    }
    protocol::CallToolResult call;
    call.content = RawJson::parse("[" + blocks + "]");
    require_blocks(call.content.text());
    call.structured_content = result;
    return call;
}

std::optional<RawJson> id_of_broken_answer(std::string_view text) {
    constexpr std::string_view space = " \t\r\n";
    const std::size_t start = text.find_first_not_of(space);
    if (start == std::string_view::npos || text[start] != '{' || text.find("\"jsonrpc\"") == std::string_view::npos) {
        return std::nullopt;
    }
    const std::size_t key = text.find("\"id\"");
    const std::size_t colon = key == std::string_view::npos ? key : text.find_first_not_of(space, key + 4);
    if (colon == std::string_view::npos || text[colon] != ':') {
        return std::nullopt;
    }
    const std::size_t first = text.find_first_not_of(space, colon + 1);
    if (first == std::string_view::npos) {
        return std::nullopt;
    }
    const std::size_t last = std::min(text.find_first_not_of("0123456789", first), text.size());
    const bool is_integer = last > first && last - first <= 18 && (text[first] != '0' || last == first + 1);
    if (!is_integer) {
        return std::nullopt;
    }
    return RawJson::parse(text.substr(first, last - first));
}

} // namespace cellgate::mcp
