#pragma once
// `ToolServerInfo` is the state of a tool server with its tools; the others are the messages about tool servers, tool
// calls, and generated wrappers.

#include "base/json_codec.hpp"
#include "protocol/messages/policy.hpp"
#include "protocol/messages/sandbox.hpp"
#include "protocol/peer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::protocol {

// How to reach an MCP server: a command to start, or a URL.
struct McpServerConfig {
    std::optional<std::string> type;
    std::optional<std::string> command;
    std::optional<std::vector<std::string>> args;
    std::optional<std::map<std::string, std::string>> env;
    std::optional<std::string> cwd;
    std::optional<std::string> url;
    std::optional<std::map<std::string, std::string>> headers;
    std::optional<SandboxChoice> sandbox; // none, unless it is asked for
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("type", self.type);
        visit("command", self.command);
        visit("args", self.args);
        visit("env", self.env);
        visit("cwd", self.cwd);
        visit("url", self.url);
        visit("headers", self.headers);
        visit("sandbox", self.sandbox);
    }
};

enum class ToolServerState { pending, stopped, starting, running, failed };
inline constexpr EnumNames<ToolServerState, 5> enum_names(ToolServerState) {
    return {{{ToolServerState::pending, "pending"},
             {ToolServerState::stopped, "stopped"},
             {ToolServerState::starting, "starting"},
             {ToolServerState::running, "running"},
             {ToolServerState::failed, "failed"}}};
}

enum class ToolServerSource { built_in, user, command_line, workspace_file, agent };
inline constexpr EnumNames<ToolServerSource, 5> enum_names(ToolServerSource) {
    return {{{ToolServerSource::built_in, "builtIn"},
             {ToolServerSource::user, "user"},
             {ToolServerSource::command_line, "commandLine"},
             {ToolServerSource::workspace_file, "workspaceFile"},
             {ToolServerSource::agent, "agent"}}};
}

struct ToolInfo {
    std::string name;
    RawJson input_schema;
    std::optional<RawJson> output_schema;
    Hints hints;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("inputSchema", self.input_schema);
        visit("outputSchema", self.output_schema);
        visit("hints", self.hints);
    }
};

struct ToolServerInfo {
    std::string name;
    ToolServerState state = ToolServerState::stopped;
    ToolServerSource source = ToolServerSource::user;
    std::optional<std::string> file;
    std::string identity;
    std::optional<std::vector<std::string>> command;
    std::optional<std::string> url;
    std::optional<std::vector<ToolInfo>> tools;
    std::optional<std::string> error;
    std::optional<SandboxKind> sandbox; // of one that is started by a command
    std::optional<std::string> sandbox_config;
    std::optional<std::vector<std::string>> layers; // while it runs
    std::optional<std::vector<std::string>> sandbox_notices;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("state", self.state);
        visit("source", self.source);
        visit("file", self.file);
        visit("identity", self.identity);
        visit("command", self.command);
        visit("url", self.url);
        visit("tools", self.tools);
        visit("error", self.error);
        visit("sandbox", self.sandbox);
        visit("sandboxConfig", self.sandbox_config);
        visit("layers", self.layers);
        visit("sandboxNotices", self.sandbox_notices);
    }
};

struct ToolServerParams {
    std::string server;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("server", self.server);
    }
};

struct ToolServersAddParams {
    std::string server;
    McpServerConfig config;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("server", self.server);
        visit("config", self.config);
    }
};

struct ToolServersListResult {
    std::vector<ToolServerInfo> servers;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("servers", self.servers);
    }
};

struct WrappersGenerateParams {
    std::string server;
    std::optional<McpServerConfig> config;
    std::optional<std::string> out_dir;
    std::optional<RawJson> work_done_token;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("server", self.server);
        visit("config", self.config);
        visit("outDir", self.out_dir);
        visit("workDoneToken", self.work_done_token);
    }
};

struct WrapperModule {
    std::string tool;
    std::string module;
    std::string path;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("tool", self.tool);
        visit("module", self.module);
        visit("path", self.path);
    }
};

struct SkippedTool {
    std::string tool;
    std::string reason;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("tool", self.tool);
        visit("reason", self.reason);
    }
};

struct WrappersGenerateResult {
    std::string package;
    std::vector<WrapperModule> modules;
    std::vector<SkippedTool> skipped;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("package", self.package);
        visit("modules", self.modules);
        visit("skipped", self.skipped);
    }
};

struct ToolsCallParams {
    std::string server;
    std::string tool;
    RawJson arguments;
    std::optional<std::string> session_id;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("server", self.server);
        visit("tool", self.tool);
        visit("arguments", self.arguments);
        visit("sessionId", self.session_id);
    }
};

// A call as code in a kernel makes it, over the tool channel (schemas/channel.json). All of it is what the code says.
struct ChannelCallParams {
    std::string server;
    std::string tool;
    RawJson arguments;
    std::optional<std::int64_t> line;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("server", self.server);
        visit("tool", self.tool);
        visit("arguments", self.arguments);
        visit("line", self.line);
    }
};

struct ToolServersLogResult {
    std::string text; // visible
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("text", self.text);
    }
};

// MCP's result of a call.
struct CallToolResult {
    RawJson content;
    std::optional<RawJson> structured_content;
    std::optional<bool> is_error;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("content", self.content);
        visit("structuredContent", self.structured_content);
        visit("isError", self.is_error);
    }
};

struct ToolServersList : Request<Empty, ToolServersListResult> {
    static constexpr std::string_view name = "toolServers/list";
};
struct ToolServersAdd : Request<ToolServersAddParams, ToolServerInfo> {
    static constexpr std::string_view name = "toolServers/add";
};
struct ToolServersLog : Request<ToolServerParams, ToolServersLogResult> {
    static constexpr std::string_view name = "toolServers/log";
};
struct ToolServersRestart : Request<ToolServerParams, ToolServerInfo> {
    static constexpr std::string_view name = "toolServers/restart";
};
struct ToolServersRemove : Request<ToolServerParams, Empty> {
    static constexpr std::string_view name = "toolServers/remove";
};
struct WrappersGenerate : Request<WrappersGenerateParams, WrappersGenerateResult> {
    static constexpr std::string_view name = "wrappers/generate";
};
struct ToolsCall : Request<ToolsCallParams, CallToolResult> {
    static constexpr std::string_view name = "tools/call";
};
struct ChannelCall : Request<ChannelCallParams, CallToolResult> {
    static constexpr std::string_view name = "tools/call";
};

} // namespace cellgate::protocol
