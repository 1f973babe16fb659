#pragma once
// `wire` defines the MCP messages that the client reads and writes.

#include "base/json_codec.hpp"
#include "mcp/client.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::mcp {

inline constexpr std::string_view modern_version = "2026-07-28";
inline constexpr std::array<std::string_view, 4> legacy_versions = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                                    "2024-11-05"};
bool is_legacy_version(std::string_view version);
// Tasks: an extension of the modern era, and part of one revision of the legacy one.
inline constexpr std::string_view tasks_extension = "io.modelcontextprotocol/tasks";
inline constexpr std::string_view legacy_version_with_tasks = "2025-11-25";

// Error codes that only a modern server sends.
inline constexpr int header_mismatch = -32020;
inline constexpr int missing_client_capability = -32021;
inline constexpr int unsupported_protocol_version = -32022;

struct InitializeParams {
    std::string protocol_version;
    RawJson capabilities;
    Implementation client_info;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("protocolVersion", self.protocol_version);
        visit("capabilities", self.capabilities);
        visit("clientInfo", self.client_info);
    }
};

struct InitializeResult {
    std::string protocol_version;
    std::optional<RawJson> capabilities;
    std::optional<RawJson> server_info;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("protocolVersion", self.protocol_version);
        visit("capabilities", self.capabilities);
        visit("serverInfo", self.server_info);
    }
};

struct DiscoverResult {
    std::vector<std::string> supported_versions;
    std::optional<RawJson> capabilities;
    std::optional<RawJson> server_info;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("supportedVersions", self.supported_versions);
        visit("capabilities", self.capabilities);
        visit("serverInfo", self.server_info);
    }
};

struct UnsupportedVersionData {
    std::vector<std::string> supported;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("supported", self.supported);
    }
};

struct ResultType {
    std::optional<std::string> result_type;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("resultType", self.result_type);
    }
};

struct CallResult {
    std::optional<RawJson> content;
    std::optional<RawJson> structured_content;
    std::optional<bool> is_error;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("content", self.content);
        visit("structuredContent", self.structured_content);
        visit("isError", self.is_error);
    }
};

struct Ping : protocol::Request<Empty, Empty> {
    static constexpr std::string_view name = "ping";
};
struct ToolsListChanged : protocol::Notification<Empty> {
    static constexpr std::string_view name = "notifications/tools/list_changed";
};
struct ResourcesListChanged : protocol::Notification<Empty> {
    static constexpr std::string_view name = "notifications/resources/list_changed";
};
struct PromptsListChanged : protocol::Notification<Empty> {
    static constexpr std::string_view name = "notifications/prompts/list_changed";
};

struct ResourceUpdatedParams {
    std::string uri;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("uri", self.uri);
    }
};
struct ResourceUpdated : protocol::Notification<ResourceUpdatedParams> {
    static constexpr std::string_view name = "notifications/resources/updated";
};

struct ProgressParams {
    RawJson progress_token;
    double progress = 0;
    std::optional<double> total;
    std::optional<std::string> message;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("progressToken", self.progress_token);
        visit("progress", self.progress);
        visit("total", self.total);
        visit("message", self.message);
    }
};
struct ProgressNotification : protocol::Notification<ProgressParams> {
    static constexpr std::string_view name = "notifications/progress";
};

struct LogMessageParams {
    std::string level;
    std::optional<std::string> logger;
    RawJson data;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("level", self.level);
        visit("logger", self.logger);
        visit("data", self.data);
    }
};
struct LogMessage : protocol::Notification<LogMessageParams> {
    static constexpr std::string_view name = "notifications/message";
};

struct ElicitationCompleteParams {
    std::string elicitation_id;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("elicitationId", self.elicitation_id);
    }
};
struct ElicitationComplete : protocol::Notification<ElicitationCompleteParams> {
    static constexpr std::string_view name = "notifications/elicitation/complete";
};

// Nothing when it is invalid, which is no reason to refuse a server.
std::optional<Implementation> read_implementation(const std::optional<RawJson>& value);

// A server's capabilities; none where they are not as MCP has them.
Features features_of(const std::optional<RawJson>& capabilities);

// The spec of a usable tool. Throws Error with the reason why it is unusable.
protocol::ToolSpec read_tool(const RawJson& tool);

// The name for display of an unusable tool.
std::string name_of(const RawJson& tool, std::size_t index);

// Throws Error{limit_exceeded} for the result of a call that is larger than 32 MiB.
void require_small(const RawJson& result);

// Throws Error{tool_server_failed} when it is not the result of a tool call.
protocol::CallToolResult read_call_result(const RawJson& result);

// The results of resources/read and prompts/get as those of a call. They throw as read_call_result().
protocol::CallToolResult read_resource_contents(const RawJson& result);
protocol::CallToolResult read_prompt_messages(const RawJson& result);

// The id of a malformed JSON-RPC response; nothing for any other text.
std::optional<RawJson> id_of_broken_answer(std::string_view text);

} // namespace cellgate::mcp
