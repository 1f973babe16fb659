// The tools of sandboxmcp for what is outside of the sandbox: the web, by the tool server `web`, and the machine, by
// the built-in server `host`. Each is a call of that server's tool, which the gate decides about.

#include "base/json_codec.hpp"
#include "base/shell_words.hpp"
#include "sandboxmcp_tools.hpp"

#include <fmt/format.h>

#include <utility>

namespace cellgate::agent {

namespace {

using mcp::ToolCall;
using protocol::CallToolResult;

constexpr const char* host_server = "host";
constexpr const char* web_server = "web";

// A tool of another name, with the same parameters.
struct ForwardedTool {
    const char* name;
    const char* title;
    Effect effect;
    const char* description;
    const char* server;
    const char* tool;
    std::string_view input;
};

constexpr ForwardedTool forwarded_tools[] = {
    {"web_search", "Search the web", Effect::searches, "Searches the web.", web_server, "search",
     R"({"type":"object","properties":{"query":{"type":"string"},"max_results":{"type":"integer","minimum":1}},
"required":["query"],"additionalProperties":false})"},
    {"fetch_webpage", "Fetch a page", Effect::searches, "Fetches a page as Markdown.", web_server, "fetch",
     R"({"type":"object","properties":{"url":{"type":"string"},"max_chars":{"type":"integer","minimum":1}},
"required":["url"],"additionalProperties":false})"},
    {"browser_fetch", "Fetch a page by a browser", Effect::searches,
     "Fetches a page by a browser, which runs its scripts.", web_server, "browse",
     R"({"type":"object","properties":{"url":{"type":"string"},
"wait_for":{"type":"string","description":"A CSS selector to wait for."},
"screenshot":{"type":"boolean","description":"Return a picture, too."}},
"required":["url"],"additionalProperties":false})"},
    {"host_file_read", "Read a file", Effect::reads, "Reads a file of the workspace.", host_server, "read_file",
     R"({"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false})"},
    {"host_file_write", "Write a file", Effect::replaces,
     "Writes a file of the workspace. Your user is asked, and sees all of it.", host_server, "write_file",
     R"({"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},
"required":["path","content"],"additionalProperties":false})"},
    {"host_file_list", "List a directory", Effect::reads, "Lists a directory of the workspace.", host_server,
     "list_directory",
     R"({"type":"object","properties":{"path":{"type":"string","description":"\".\" is the workspace."}},
"required":["path"],"additionalProperties":false})"},
};

// ---- Arguments ------------------------------------------------------------------------------------------------------

struct HostCommand {
    static constexpr bool closed = true;
    RawJson command;
    std::optional<std::string> cwd;
    std::optional<double> timeout;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("command", self.command);
        visit("cwd", self.cwd);
        visit("timeout", self.timeout);
    }
};

struct HostCopy {
    static constexpr bool closed = true;
    std::string source;
    std::string destination;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("source", self.source);
        visit("destination", self.destination);
    }
};

struct HostPattern {
    static constexpr bool closed = true;
    std::string pattern;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("pattern", self.pattern);
    }
};

struct FileContent {
    std::string content;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("content", self.content);
    }
};

// The program and its arguments. No shell reads them.
std::vector<std::string> argv_of(const RawJson& command) {
    if (command.type() != "string") {
        return from_json<std::vector<std::string>>(command, "arguments.command");
    }
    const std::optional<std::vector<std::string>> words = plain_words(decode_json_string(command.text()));
    if (!words || words->empty()) {
        throw Error(ErrorCode::invalid_params,
                    "command: expected a program and its arguments, without what only a shell does",
                    "give a list, such as [\"sh\", \"-c\", \"…\"], which your user is shown");
    }
    return *words;
}

// ---- The tools ------------------------------------------------------------------------------------------------------

struct SandboxmcpOutsideTools {
    std::shared_ptr<SandboxmcpAgent> agent;

    Task<CallToolResult> call_tool(std::string server, std::string tool, RawJson arguments,
                                   std::shared_ptr<ToolCall> call) {
        protocol::ToolsCallParams params;
        params.server = server;
        params.tool = std::move(tool);
        params.arguments = std::move(arguments);
        try {
            co_return co_await agent->sidecar.call_with_approval<protocol::ToolsCall>(std::move(params),
                                                                                      std::move(call));
        } catch (const protocol::RemoteError& error) {
            if (error.code != ErrorCode::tool_server_not_found || server != web_server) {
                throw;
            }
        }
        throw Error(ErrorCode::tool_server_not_found, "there is no tool server \"web\"",
                    "a user can add it to their settings or .mcp.json: \"web\": {\"builtin\": \"web\"}, with "
                    "SEARXNG_URL or BRAVE_API_KEY in its \"env\" "
                    "to search");
    }

    Task<CallToolResult> host_exec(HostCommand asked, std::shared_ptr<ToolCall> call) {
        Json arguments = {{"argv", argv_of(asked.command)}};
        if (asked.cwd) {
            arguments["cwd"] = *asked.cwd;
        }
        if (asked.timeout) {
            arguments["timeoutSeconds"] = *asked.timeout;
        }
        return call_tool(host_server, "run_command", RawJson::of(arguments), std::move(call));
    }

    Task<CallToolResult> host_file_copy(HostCopy asked, std::shared_ptr<ToolCall> call) {
        const Json from = {{"path", asked.source}};
        CallToolResult read = co_await call_tool(host_server, "read_file", RawJson::of(from), call);
        if (read.is_error.value_or(false) || !read.structured_content) {
            co_return read;
        }
        const auto file = from_json<FileContent>(*read.structured_content, "read_file");
        const Json to = {{"path", asked.destination}, {"content", file.content}};
        co_return co_await call_tool(host_server, "write_file", RawJson::of(to), std::move(call));
    }

    Task<CallToolResult> request_host_access(HostPattern asked, std::shared_ptr<ToolCall>) {
        const Json answer = {
            {"pattern", asked.pattern},
            {"approved", false},
            {"reason", "patterns are your user's to allow, for reading; a command or a write is only allowed whole"},
            {"hint",
             "call host_exec or host_file_*: your user is asked about that call. For reading, a user can add a rule: "
             "cellgate policy add 'allow host/read_file path=under:FOLDER'"}};
        co_return json_result(RawJson::of(answer));
    }

    Task<CallToolResult> list_host_access(NoArguments, std::shared_ptr<ToolCall> call) {
        Empty nothing;
        const protocol::ToolServersListResult list =
            co_await agent->sidecar.call<protocol::ToolServersList>(nothing, std::move(call));
        Json tools = Json::array();
        const auto add = [&tools](const char* name, const protocol::ToolInfo& tool) {
            tools.push_back({{"tool", name}, {"description", tool.hints.description.value_or("")}});
        };
        for (const protocol::ToolServerInfo& server : list.servers) {
            if (server.name != host_server) {
                continue;
            }
            for (const protocol::ToolInfo& tool : server.tools.value_or(std::vector<protocol::ToolInfo>{})) {
                if (tool.name == "run_command") {
                    add("host_exec", tool);
                }
                for (const ForwardedTool& row : forwarded_tools) {
                    if (std::string_view(row.server) == host_server && tool.name == row.tool) {
                        add(row.name, tool);
                    }
                }
            }
        }
        const Json answer = {
            {"tools", tools},
            {"rules", "agents are not shown a user's rules; a call that none allows or denies is asked about"},
            {"limits", "files of the workspace only, without secrets and without what programs run or obey"}};
        co_return json_result(RawJson::of(answer));
    }
};

constexpr std::string_view host_command_input = R"({"type":"object","properties":{
"command":{"description":"The program and its arguments, as a list; or a line without what only a shell does.","anyOf":[
{"type":"array","items":{"type":"string"},"minItems":1},{"type":"string"}]},
"cwd":{"type":"string","description":"A directory of the workspace. Default: the workspace."},
"timeout":{"type":"number","exclusiveMinimum":0,"description":"Seconds. Default: none."}},
"required":["command"],"additionalProperties":false})";

constexpr std::string_view host_copy_input = R"({"type":"object","properties":{
"source":{"type":"string"},"destination":{"type":"string"}},
"required":["source","destination"],"additionalProperties":false})";

constexpr std::string_view host_pattern_input = R"({"type":"object","properties":{
"pattern":{"type":"string"}},"required":["pattern"],"additionalProperties":false})";

mcp::Tool forwarded(std::shared_ptr<SandboxmcpOutsideTools> tools, const ForwardedTool& row) {
    return {tool_spec(row.name, row.title, row.effect, row.description, row.input),
            [tools, server = row.server, tool = row.tool](RawJson arguments, std::shared_ptr<ToolCall> call) {
                return tools->call_tool(server, tool, std::move(arguments), std::move(call));
            }};
}

} // namespace

std::vector<mcp::Tool> sandboxmcp_outside_tools(std::shared_ptr<SandboxmcpAgent> agent) {
    const auto tools = std::make_shared<SandboxmcpOutsideTools>(std::move(agent));
    std::vector<mcp::Tool> all;
    for (const ForwardedTool& row : forwarded_tools) {
        all.push_back(forwarded(tools, row));
    }
    using Tools = SandboxmcpOutsideTools;
    all.push_back(sandboxmcp_tool(tools, "host_exec", "Run a command on the machine", Effect::runs,
                                  "Runs a command on the machine, outside of the sandbox. Your user is asked, and sees "
                                  "all of it.",
                                  host_command_input, &Tools::host_exec));
    all.push_back(sandboxmcp_tool(tools, "host_file_copy", "Copy a file", Effect::replaces,
                                  "Copies a text file within the workspace. Your user is asked, and sees all of it.",
                                  host_copy_input, &Tools::host_file_copy));
    all.push_back(sandboxmcp_tool(tools, "request_host_access", "Ask how to get access", Effect::reads,
                                  "What your user can do so that files that fit a pattern may be read unasked.",
                                  host_pattern_input, &Tools::request_host_access));
    all.push_back(sandboxmcp_tool(tools, "list_host_access", "List access to the machine", Effect::reads,
                                  "What can be done on the machine, and how it is decided.", nothing_input,
                                  &Tools::list_host_access));
    return all;
}

} // namespace cellgate::agent
