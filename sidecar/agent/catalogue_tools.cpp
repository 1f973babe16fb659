// Tool servers for an agent: register_mcp_server (as ipybox has it), generate_wrappers, list_tools, search_tools,
// describe_tool.

#include "base/json_codec.hpp"
#include "base/suggest.hpp"
#include "mcp/content.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace cellgate::agent {

namespace {

using mcp::ToolCall;
using protocol::CallToolResult;
using protocol::ToolInfo;
using protocol::ToolServerInfo;

// An estimate for English and JSON: tokenizers differ.
constexpr std::size_t bytes_per_token = 4;
constexpr std::int64_t default_tokens = 1500;
constexpr std::int64_t max_tokens_allowed = 50'000;
constexpr std::int64_t max_found = 20;
constexpr std::int64_t max_listed = 1000;

// ---- Arguments of the tools
// ------------------------------------------------------------------------------------------

struct RegisterArguments {
    static constexpr bool closed = true;
    std::string server_name;
    protocol::McpServerConfig server_params;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("server_name", self.server_name);
        visit("server_params", self.server_params);
    }
};

struct ServerArguments {
    static constexpr bool closed = true;
    std::string server;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("server", self.server);
    }
};

struct ListArguments {
    static constexpr bool closed = true;
    std::optional<std::string> server;
    std::optional<std::int64_t> max_tokens;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("server", self.server);
        visit("max_tokens", self.max_tokens);
    }
};

struct SearchArguments {
    static constexpr bool closed = true;
    std::string query;
    std::optional<std::string> server;
    std::optional<std::int64_t> max_tokens;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("query", self.query);
        visit("server", self.server);
        visit("max_tokens", self.max_tokens);
    }
};

struct DescribeArguments {
    static constexpr bool closed = true;
    std::string server;
    std::string tool;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("server", self.server);
        visit("tool", self.tool);
    }
};

std::size_t bytes_of_budget(const std::optional<std::int64_t>& tokens) {
    if (tokens && *tokens < 1) {
        throw Error(ErrorCode::invalid_params, "arguments.max_tokens: expected 1 or more");
    }
    return static_cast<std::size_t>(std::min(tokens.value_or(default_tokens), max_tokens_allowed)) * bytes_per_token;
}

// ---- Results of the tools
// --------------------------------------------------------------------------------------------

// Only describe_tool has a structured one: many clients show a model nothing else where there is one, so it would have
// to repeat the whole text, in more tokens.

struct ToolDescription {
    std::string server;
    ToolInfo tool;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("server", self.server);
        visit("tool", self.tool);
    }
};

// ---- The tools ------------------------------------------------------------------------------------------------------

struct CatalogueTools {
    explicit CatalogueTools(SidecarClient& sidecar_) : sidecar(sidecar_) {}
    SidecarClient& sidecar;

    Task<std::vector<ToolServerInfo>> servers(std::optional<std::string> only, std::shared_ptr<ToolCall> call) {
        Empty nothing;
        protocol::ToolServersListResult list =
            co_await sidecar.call<protocol::ToolServersList>(nothing, std::move(call));
        if (only) {
            std::vector<std::string> names;
            std::transform(list.servers.begin(), list.servers.end(), std::back_inserter(names),
                           [](const ToolServerInfo& each) { return each.name; });
            std::erase_if(list.servers, [&](const ToolServerInfo& each) { return each.name != *only; });
            if (list.servers.empty()) {
                throw Error(ErrorCode::tool_server_not_found, fmt::format("there is no tool server \"{}\"", *only),
                            did_you_mean(*only, names));
            }
        }
        co_return std::move(list.servers);
    }

    Task<protocol::WrappersGenerateResult> generate(std::string server, std::optional<protocol::McpServerConfig> config,
                                                    std::shared_ptr<ToolCall> call) {
        protocol::WrappersGenerateParams params;
        params.server = std::move(server);
        params.config = std::move(config);
        co_return co_await sidecar.call_with_approval<protocol::WrappersGenerate>(std::move(params), std::move(call));
    }

    // ipybox answers with the names of the modules, a block for each.
    Task<CallToolResult> register_server(RegisterArguments arguments, std::shared_ptr<ToolCall> call) {
        const std::string usual_package = "mcptools." + arguments.server_name;
        const protocol::WrappersGenerateResult made =
            co_await generate(std::move(arguments.server_name), std::move(arguments.server_params), std::move(call));
        mcp::Content content;
        for (const protocol::WrapperModule& module : made.modules) {
            content.add_text(module.module.substr(module.module.rfind('.') + 1));
        }
        for (const protocol::SkippedTool& skipped : made.skipped) {
            content.add_text(fmt::format("[{} was left out: {}]", skipped.tool, skipped.reason));
        }
        if (made.package != usual_package) {
            content.add_text(fmt::format("[the package is {}]", made.package));
        }
        CallToolResult result;
        result.content = content.blocks();
        co_return result;
    }

    Task<CallToolResult> generate_wrappers(ServerArguments arguments, std::shared_ptr<ToolCall> call) {
        const protocol::WrappersGenerateResult made =
            co_await generate(std::move(arguments.server), std::nullopt, std::move(call));
        std::vector<std::string> names;
        for (const protocol::WrapperModule& module : made.modules) {
            names.push_back(module.module.substr(module.module.rfind('.') + 1));
        }
        std::string text =
            names.empty() ? std::string() : fmt::format("from {} import {}\n", made.package, fmt::join(names, ", "));
        for (const protocol::SkippedTool& skipped : made.skipped) {
            text += fmt::format("# {} was left out: {}\n", skipped.tool, skipped.reason);
        }
        co_return mcp::text_result(text);
    }

    Task<CallToolResult> list(ListArguments arguments, std::shared_ptr<ToolCall> call) {
        co_return co_await find(std::nullopt, std::move(arguments.server), arguments.max_tokens, std::move(call));
    }

    Task<CallToolResult> search(SearchArguments arguments, std::shared_ptr<ToolCall> call) {
        co_return co_await find(std::move(arguments.query), std::move(arguments.server), arguments.max_tokens,
                                std::move(call));
    }

    Task<CallToolResult> find(std::optional<std::string> query, std::optional<std::string> server,
                              std::optional<std::int64_t> max_tokens, std::shared_ptr<ToolCall> call) {
        const std::size_t budget = bytes_of_budget(max_tokens);
        const bool is_search = query.has_value();
        const std::vector<ToolServerInfo> all = co_await servers(server, call);
        protocol::ToolsSearchParams params;
        params.query = std::move(query);
        params.server = std::move(server);
        params.limit = is_search ? max_found : max_listed;
        const protocol::ToolsSearchResult found =
            co_await sidecar.call<protocol::ToolsSearch>(std::move(params), std::move(call));
        co_return told(all, found, is_search, budget);
    }

    // As many tools as the budget has room for. `with_signatures`: how each is called.
    static CallToolResult told(const std::vector<ToolServerInfo>& servers, const protocol::ToolsSearchResult& found,
                               bool with_signatures, std::size_t budget) {
        std::string text;
        for (const ToolServerInfo& server : servers) {
            if (server.error && !server.tools) {
                text += fmt::format("{}: {}\n", server.name, *server.error);
            } else if (!server.tools) {
                text += fmt::format("{}: its tools are not known before it has started; generate_wrappers starts it\n",
                                    server.name);
            }
        }
        std::size_t shown = 0;
        for (const protocol::FoundTool& tool : found.tools) {
            std::string line = fmt::format("{}.{}: {}\n", tool.server, tool.tool, tool.summary);
            if (with_signatures && !tool.signature.empty()) {
                line += tool.signature + "\n\n";
            }
            if (text.size() + line.size() > budget) {
                break;
            }
            text += line;
            ++shown;
        }
        const auto all = with_signatures ? found.tools.size() : static_cast<std::size_t>(found.searched);
        if (all > shown) {
            text += fmt::format("[{} more: search_tools with other words, or a larger max_tokens]\n", all - shown);
        }
        return mcp::text_result(text.empty() ? "no tool fits" : text);
    }

    Task<CallToolResult> describe(DescribeArguments arguments, std::shared_ptr<ToolCall> call) {
        const std::vector<ToolServerInfo> found = co_await servers(arguments.server, std::move(call));
        const ToolServerInfo& server = found.front();
        if (!server.tools) {
            throw Error(ErrorCode::tool_not_found,
                        fmt::format("the tools of {} are not known before it has started", arguments.server),
                        "generate_wrappers starts it");
        }
        const auto tool = std::find_if(server.tools->begin(), server.tools->end(),
                                       [&](const ToolInfo& each) { return each.name == arguments.tool; });
        if (tool == server.tools->end()) {
            throw Error(ErrorCode::tool_not_found,
                        fmt::format("the tool server {} has no tool \"{}\"", arguments.server, arguments.tool),
                        "search_tools finds its tools");
        }
        std::string text = fmt::format("{}.{}\n{}\n\nInput schema: {}\n", server.name, tool->name,
                                       tool->hints.description.value_or(""), tool->input_schema.text());
        if (tool->output_schema) {
            text += fmt::format("Output schema: {}\n", tool->output_schema->text());
        }
        const ToolDescription described{server.name, *tool};
        CallToolResult result = mcp::text_result(text);
        result.structured_content = to_raw_json(described);
        co_return result;
    }
};

constexpr std::string_view register_input = R"({"type":"object","properties":{
"server_name":{"type":"string","description":"The package becomes mcptools.<server_name>."},
"server_params":{"type":"object","description":"How to start it (command, args, env, cwd) or where it is (url, headers).","properties":{
"command":{"type":"string"},"args":{"type":"array","items":{"type":"string"}},
"env":{"type":"object","additionalProperties":{"type":"string"}},"cwd":{"type":"string"},
"url":{"type":"string"},"headers":{"type":"object","additionalProperties":{"type":"string"}}}}},
"required":["server_name","server_params"],"additionalProperties":false})";

constexpr std::string_view server_input = R"({"type":"object","properties":{
"server":{"type":"string","description":"A tool server's name, as search_tools gives it."}},
"required":["server"],"additionalProperties":false})";

constexpr std::string_view list_input = R"({"type":"object","properties":{
"server":{"type":"string","description":"Only this server's. Default: all."},
"max_tokens":{"type":"integer","minimum":1,"description":"About how long the answer may be. Default: 1500."}},
"additionalProperties":false})";

constexpr std::string_view search_input = R"({"type":"object","properties":{
"query":{"type":"string","description":"What the tool should do, in the words that authors of tools use, and other words for the same: rename file, move file."},
"server":{"type":"string","description":"Only this server's. Default: all."},
"max_tokens":{"type":"integer","minimum":1,"description":"About how long the answer may be. Default: 1500."}},
"required":["query"],"additionalProperties":false})";

constexpr std::string_view describe_input = R"({"type":"object","properties":{
"server":{"type":"string"},"tool":{"type":"string","description":"The tool's own name at the server."}},
"required":["server","tool"],"additionalProperties":false})";

} // namespace

std::vector<mcp::Tool> catalogue_tools(SidecarClient& sidecar) {
    const auto tools = std::make_shared<CatalogueTools>(sidecar);
    std::vector<mcp::Tool> all;
    all.push_back(mcp::typed_tool<RegisterArguments>(
        tool_spec("register_mcp_server", "Register a tool server", Effect::fetches,
                  "Makes a Python package of an MCP server's tools, mcptools.<server_name>, and returns its modules. "
                  "Starting a server that no user configured is asked about: the user sees the whole command.",
                  register_input),
        [tools](RegisterArguments arguments, std::shared_ptr<ToolCall> call) {
            return tools->register_server(std::move(arguments), std::move(call));
        }));
    all.push_back(mcp::typed_tool<ServerArguments>(
        tool_spec("generate_wrappers", "Generate wrappers", Effect::sets,
                  "Makes a Python package of the tools of a server that is configured already, and returns the "
                  "imports. Starts the server, which may be asked about.",
                  server_input),
        [tools](ServerArguments arguments, std::shared_ptr<ToolCall> call) {
            return tools->generate_wrappers(std::move(arguments), std::move(call));
        }));
    all.push_back(mcp::typed_tool<ListArguments>(
        tool_spec("list_tools", "List tools", Effect::reads,
                  "Names the tool servers and the tools that code can call, in a line each.", list_input),
        [tools](ListArguments arguments, std::shared_ptr<ToolCall> call) {
            return tools->list(std::move(arguments), std::move(call));
        }));
    all.push_back(mcp::typed_tool<SearchArguments>(
        tool_spec("search_tools", "Search for tools", Effect::reads,
                  "Finds the tools that code can call, the best ones first, and how each is called.", search_input),
        [tools](SearchArguments arguments, std::shared_ptr<ToolCall> call) {
            return tools->search(std::move(arguments), std::move(call));
        }));
    all.push_back(
        mcp::typed_tool<DescribeArguments>(tool_spec("describe_tool", "Describe a tool", Effect::reads,
                                                     "A tool's whole description and its schemas.", describe_input),
                                           [tools](DescribeArguments arguments, std::shared_ptr<ToolCall> call) {
                                               return tools->describe(std::move(arguments), std::move(call));
                                           }));
    return all;
}

} // namespace cellgate::agent
