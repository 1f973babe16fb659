#include "feature_tools.hpp"

#include "base/log.hpp"
#include "mcp/uri_template.hpp"
#include "server_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cellgate::tools {

namespace {

constexpr std::size_t max_feature_name = 100; // as part of a tool's name
constexpr std::string_view no_arguments = R"({"type":"object","properties":{}})";

protocol::ToolSpec reading_spec(std::string name, std::string title, std::string description,
                                std::string input_schema) {
    protocol::ToolSpec spec;
    spec.name = std::move(name);
    spec.title = std::move(title);
    spec.description = std::move(description);
    spec.input_schema = RawJson::checked(std::move(input_schema));
    spec.annotations.emplace().read_only_hint = true;
    return spec;
}

// A list of the server's as a tool without arguments.
struct ListTool {
    std::string_view name;
    std::string_view title;
    std::string_view description;
    std::string_view method; // of MCP
    std::string_view member; // of its result
    std::string_view items;  // the schema's properties of an item
    std::string_view required;
};

constexpr std::array list_tools = {
    ListTool{"resources/list", "List resources", "The resources that the server lists.", "resources/list", "resources",
             R"("uri":{"type":"string"},"name":{"type":"string"},"title":{"type":"string"},)"
             R"("description":{"type":"string"},"mimeType":{"type":"string"},"size":{"type":"integer"})",
             R"("uri","name")"},
    ListTool{"resources/templates", "List templates of resources",
             "The templates of addresses of resources that the server lists.", "resources/templates/list",
             "resourceTemplates",
             R"("uriTemplate":{"type":"string"},"name":{"type":"string"},"title":{"type":"string"},)"
             R"("description":{"type":"string"},"mimeType":{"type":"string"})",
             R"("uriTemplate","name")"},
};

FeatureTool list_tool(const ListTool& list) {
    FeatureTool tool;
    tool.kind = FeatureTool::Kind::list;
    tool.spec = reading_spec(std::string(list.name), std::string(list.title), std::string(list.description),
                             std::string(no_arguments));
    tool.spec.output_schema = RawJson::checked(
        fmt::format(R"({{"type":"object","properties":{{"{0}":{{"type":"array","items":{{"type":"object",)"
                    R"("properties":{{{1}}},"required":[{2}]}}}}}},"required":["{0}"]}})",
                    list.member, list.items, list.required));
    return tool;
}

FeatureTool read_tool(FeatureTool::Kind kind, std::string_view name, std::string title, std::string description) {
    FeatureTool tool;
    tool.kind = kind;
    tool.spec = reading_spec(std::string(name), std::move(title), std::move(description),
                             R"({"type":"object","properties":{"uri":{"type":"string","description":"Its address."}},)"
                             R"("required":["uri"]})");
    return tool;
}

// A name such as tools have: "Dynamic Text" becomes Dynamic_Text.
std::string as_name(std::string_view prefix, const std::string& name) {
    std::string out(prefix);
    for (const char c : std::string_view(name).substr(0, max_feature_name)) {
        const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                          c == '-' || c == '.';
        out += fits ? c : '_';
    }
    return out;
}

// Throws Error{tool_server_failed} for a broken one.
std::string require_text(const RawJson& item, std::string_view member) {
    std::optional<std::string> text = json_member_text(item.text(), member);
    if (!text || text->empty()) {
        throw Error(ErrorCode::tool_server_failed, fmt::format("expected a {}, found none", member));
    }
    return std::move(*text);
}

void add_property(std::string& properties, const std::string& name, const std::optional<std::string>& description) {
    properties += properties.empty() ? "" : ",";
    append_json_string(properties, name);
    properties += R"(:{"type":"string")";
    if (description) {
        properties += R"(,"description":)";
        append_json_string(properties, *description);
    }
    properties += '}';
}

void add_required(std::string& required, const std::string& name) {
    required += required.empty() ? "" : ",";
    append_json_string(required, name);
}

std::string object_schema(const std::string& properties, const std::string& required) {
    return fmt::format(R"({{"type":"object","properties":{{{}}},"required":[{}],"additionalProperties":false}})",
                       properties, required);
}

FeatureTool template_tool(const RawJson& item) {
    FeatureTool tool;
    tool.kind = FeatureTool::Kind::resource_template;
    tool.target = require_text(item, "uriTemplate");
    std::string properties;
    std::string required;
    const mcp::UriTemplate parsed(tool.target);
    for (const mcp::TemplateVariable& variable : parsed.variables()) {
        add_property(properties, variable.name, std::nullopt);
        if (variable.required) {
            add_required(required, variable.name);
        }
    }
    const std::string name = require_text(item, "name");
    const std::string description = json_member_text(item.text(), "description").value_or("");
    tool.spec = reading_spec(as_name("resources/", name), json_member_text(item.text(), "title").value_or(name),
                             fmt::format("{}{}Reads {}", description, description.empty() ? "" : "\n\n", tool.target),
                             object_schema(properties, required));
    return tool;
}

FeatureTool prompt_tool(const RawJson& item) {
    FeatureTool tool;
    tool.kind = FeatureTool::Kind::prompt;
    tool.target = require_text(item, "name");
    std::string properties;
    std::string required;
    const std::string_view arguments = json_member(item.text(), "arguments");
    if (!arguments.empty() && json_type(arguments) == "array") {
        for (const std::string_view element : json_elements(arguments)) {
            const RawJson argument = RawJson::checked(std::string(element));
            const std::string name = require_text(argument, "name");
            add_property(properties, name, json_member_text(element, "description"));
            if (json_member(element, "required") == "true") {
                add_required(required, name);
            }
        }
    }
    tool.spec =
        reading_spec(as_name("prompts/", tool.target), json_member_text(item.text(), "title").value_or(tool.target),
                     json_member_text(item.text(), "description").value_or(""), object_schema(properties, required));
    tool.spec.output_schema = RawJson::checked(
        R"({"type":"object","properties":{"description":{"type":"string"},"messages":{"type":"array","items":)"
        R"({"type":"object","properties":{"role":{"enum":["user","assistant"]},"content":{"type":"object"}},)"
        R"("required":["role","content"]}}},"required":["messages"]})");
    return tool;
}

// Nothing when the server does not give the list.
Task<std::vector<RawJson>> items_of(std::shared_ptr<mcp::Client> client, std::string server, std::string method,
                                    std::string member, Instant deadline) {
    try {
        co_return co_await client->list(method, std::move(member), deadline);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        log_warning("the tool server {}: {}", in_quotes(server), error.message);
    }
    co_return std::vector<RawJson>();
}

void add_all(std::vector<FeatureTool>& tools, const std::vector<RawJson>& items, FeatureTool (*make)(const RawJson&),
             const std::string& server) {
    for (const RawJson& item : items) {
        try {
            tools.push_back(make(item));
        } catch (const Error& error) {
            log_warning("the tool server {}: a prompt or a template is left out: {}", in_quotes(server), error.message);
        }
    }
}

protocol::CallToolResult as_result(std::string_view member, const std::vector<RawJson>& items) {
    std::string text;
    for (const RawJson& item : items) {
        text += (text.empty() ? "" : ",") + item.text();
    }
    protocol::CallToolResult result;
    result.content = RawJson::checked("[]");
    result.structured_content = RawJson::checked(fmt::format(R"({{"{}":[{}]}})", member, text));
    return result;
}

} // namespace

Task<std::vector<FeatureTool>> list_features(std::shared_ptr<mcp::Client> client, std::string server,
                                             Instant deadline) {
    std::vector<FeatureTool> tools;
    if (client->features().resources) {
        for (const ListTool& list : list_tools) {
            tools.push_back(list_tool(list));
        }
        tools.push_back(read_tool(FeatureTool::Kind::resource, read_resource_tool, "Read a resource",
                                  "The contents of a resource."));
        if (client->features().subscriptions) {
            tools.push_back(read_tool(FeatureTool::Kind::resource_changes, "resources/subscribe", "Follow a resource",
                                      "The contents of a resource: at once the first time, then after its next "
                                      "change."));
        }
        std::string method = "resources/templates/list";
        std::string member = "resourceTemplates";
        const std::vector<RawJson> templates =
            co_await items_of(client, server, std::move(method), std::move(member), deadline);
        add_all(tools, templates, template_tool, server);
    }
    if (client->features().prompts) {
        std::string method = "prompts/list";
        std::string member = "prompts";
        const std::vector<RawJson> prompts =
            co_await items_of(client, server, std::move(method), std::move(member), deadline);
        add_all(tools, prompts, prompt_tool, server);
    }
    co_return tools;
}

RawJson template_arguments(const FeatureTool& tool, const RawJson& arguments) {
    std::map<std::string, std::string> values;
    for (const auto& [name, value] : json_members(arguments.text())) {
        if (json_type(value) == "string") {
            values[name] = decode_json_string(value);
        }
    }
    std::string text = R"({"uri":)";
    append_json_string(text, mcp::UriTemplate(tool.target).expand(values));
    return RawJson::checked(text + "}");
}

Task<protocol::CallToolResult> call_feature(std::shared_ptr<mcp::Client> client, FeatureTool tool, RawJson arguments,
                                            std::shared_ptr<mcp::CallFollower> follower, Clock* clock, Duration limit) {
    using Kind = FeatureTool::Kind;
    if (tool.kind == Kind::prompt) {
        co_return co_await client->get_prompt(std::move(tool.target), std::move(arguments), std::move(follower));
    }
    if (tool.kind == Kind::resource || tool.kind == Kind::resource_changes) {
        std::string uri = json_member_text(arguments.text(), "uri").value_or("");
        if (tool.kind == Kind::resource_changes) {
            std::string followed = uri;
            co_await client->resource_changed(std::move(followed), limit);
        }
        co_return co_await client->read_resource(std::move(uri), std::move(follower));
    }
    const auto list = std::find_if(list_tools.begin(), list_tools.end(),
                                   [&](const ListTool& each) { return each.name == tool.spec.name; });
    std::string method(list->method);
    std::string member(list->member);
    const std::vector<RawJson> items =
        co_await client->list(std::move(method), std::move(member), clock->now() + limit);
    co_return as_result(list->member, items);
}

} // namespace cellgate::tools
