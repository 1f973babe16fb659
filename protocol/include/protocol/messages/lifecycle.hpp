#pragma once
// `InitializeParams` is the first message of a connection; with the others it opens and ends one, as in LSP.

#include "base/json_codec.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "protocol/peer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::protocol {

enum class Role { user, agent };
inline constexpr EnumNames<Role, 2> enum_names(Role) {
    return {{{Role::user, "user"}, {Role::agent, "agent"}}};
}

enum class ImageTransport { inline_data, file };
inline constexpr EnumNames<ImageTransport, 2> enum_names(ImageTransport) {
    return {{{ImageTransport::inline_data, "inline"}, {ImageTransport::file, "file"}}};
}

struct ClientInfo {
    std::string name;
    std::optional<std::string> version;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("version", self.version);
    }
};

// What the client can do. Absent is false.
struct ClientCapabilities {
    std::optional<bool> approvals;
    std::optional<bool> input;
    std::optional<bool> elicitation;
    std::optional<ImageTransport> images;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("approvals", self.approvals);
        visit("input", self.input);
        visit("elicitation", self.elicitation);
        visit("images", self.images);
    }
};

struct InitializationOptions {
    std::optional<double> linger_seconds;
    std::optional<std::map<std::string, McpServerConfig>> mcp_servers;
    std::optional<std::uint64_t> output_limit_bytes;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("lingerSeconds", self.linger_seconds);
        visit("mcpServers", self.mcp_servers);
        visit("outputLimitBytes", self.output_limit_bytes);
    }
};

struct InitializeParams {
    ClientInfo client_info;
    Nullable<std::int64_t> process_id;
    Nullable<std::string> root_uri;
    ClientCapabilities capabilities;
    std::optional<InitializationOptions> initialization_options;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("clientInfo", self.client_info);
        visit("processId", self.process_id);
        visit("rootUri", self.root_uri);
        visit("capabilities", self.capabilities);
        visit("initializationOptions", self.initialization_options);
    }
};

struct ServerInfo {
    std::string name;
    std::string version;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("version", self.version);
    }
};

// An execution that will not finish any more.
struct LostExecution {
    std::string execution_id;
    std::string session_id;
    ExecutionState state = ExecutionState::queued; // then
    std::optional<CellPosition> cell;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("executionId", self.execution_id);
        visit("sessionId", self.session_id);
        visit("state", self.state);
        visit("cell", self.cell);
    }
};

// The work that was lost when a sidecar crashed.
struct LostWork {
    std::string ended_at;
    std::vector<std::string> sessions;
    std::vector<LostExecution> executions;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("endedAt", self.ended_at);
        visit("sessions", self.sessions);
        visit("executions", self.executions);
    }
};

struct InitializeResult {
    ServerInfo server_info;
    std::string protocol_version;
    Role role = Role::user;
    Empty capabilities;
    std::optional<std::vector<LostWork>> lost;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("serverInfo", self.server_info);
        visit("protocolVersion", self.protocol_version);
        visit("role", self.role);
        visit("capabilities", self.capabilities);
        visit("lost", self.lost);
    }
};

struct CancelRequestParams {
    RawJson id;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("id", self.id);
    }
};

enum class ProgressKind { begin, report, end };
inline constexpr EnumNames<ProgressKind, 3> enum_names(ProgressKind) {
    return {{{ProgressKind::begin, "begin"}, {ProgressKind::report, "report"}, {ProgressKind::end, "end"}}};
}

struct ProgressValue {
    ProgressKind kind = ProgressKind::begin;
    std::optional<std::string> title;
    std::optional<std::string> message;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("kind", self.kind);
        visit("title", self.title);
        visit("message", self.message);
    }
};

struct ProgressParams {
    RawJson token;
    ProgressValue value;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("token", self.token);
        visit("value", self.value);
    }
};

struct Initialize : Request<InitializeParams, InitializeResult> {
    static constexpr std::string_view name = "initialize";
};
struct Initialized : Notification<Empty> {
    static constexpr std::string_view name = "initialized";
};
struct Shutdown : Request<Empty, RawJson> {
    static constexpr std::string_view name = "shutdown";
};
struct Exit : Notification<Empty> {
    static constexpr std::string_view name = "exit";
};
struct Progress : Notification<ProgressParams> {
    static constexpr std::string_view name = "$/progress";
};

} // namespace cellgate::protocol
