#pragma once
// `server_wire` defines the MCP messages that the server reads and writes.

#include "base/json_codec.hpp"
#include "mcp/implementation.hpp"
#include "mcp/server.hpp"
#include "protocol/message.hpp"
#include "protocol/peer.hpp"
#include "protocol/tool_spec.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::mcp {

// The `_meta` of a request.
struct RequestMeta {
    std::optional<RawJson> progress_token;
    std::optional<std::string> protocol_version;
    std::optional<RawJson> client_capabilities;
    std::optional<RawJson> client_info;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("progressToken", self.progress_token);
        visit("io.modelcontextprotocol/protocolVersion", self.protocol_version);
        visit("io.modelcontextprotocol/clientCapabilities", self.client_capabilities);
        visit("io.modelcontextprotocol/clientInfo", self.client_info);
    }
};

struct OnlyMeta {
    std::optional<RequestMeta> meta;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("_meta", self.meta);
    }
};

struct InitializeRequest {
    std::string protocol_version;
    RawJson capabilities;
    RawJson client_info;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("protocolVersion", self.protocol_version);
        visit("capabilities", self.capabilities);
        visit("clientInfo", self.client_info);
    }
};

struct InitializeAnswer {
    std::string protocol_version;
    RawJson capabilities;
    Implementation server_info;
    std::string instructions;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("protocolVersion", self.protocol_version);
        visit("capabilities", self.capabilities);
        visit("serverInfo", self.server_info);
        visit("instructions", self.instructions);
    }
};

struct ListRequest {
    std::optional<std::string> cursor;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("cursor", self.cursor);
    }
};

struct CallRequest {
    std::string name;
    std::optional<RawJson> arguments;
    std::optional<std::string> request_state;
    std::optional<RawJson> input_responses;
    std::optional<RawJson> task; // of 2025-11-25: the client wants the call to be one
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("arguments", self.arguments);
        visit("requestState", self.request_state);
        visit("inputResponses", self.input_responses);
        visit("task", self.task);
    }
};

// The key of our only question among the answers.
inline constexpr std::string_view consent_key = "consent";

struct InputResponses {
    std::optional<RawJson> consent;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit(consent_key, self.consent);
    }
};

struct RawList : protocol::Request<RawJson, RawJson> {
    static constexpr std::string_view name = "tools/list";
};
struct RawInitialize : protocol::Request<RawJson, RawJson> {
    static constexpr std::string_view name = "initialize";
};
struct RawDiscover : protocol::Request<RawJson, RawJson> {
    static constexpr std::string_view name = "server/discover";
};

// The error for a version that is not the modern one.
protocol::ErrorWithData unsupported_version(std::string_view found);
// The params of an elicitation: a form with a checkbox for the yes, and one for how long it holds, if the user may say.
RawJson consent_params(const ConsentRequest& question);
// A yes only if the form was accepted with the checkbox set.
Consent consent_of(const RawJson& answer, const ConsentRequest& question);
// Whether a client with these capabilities supports forms; and the tasks extension.
bool takes_forms(const RawJson& capabilities);
bool takes_tasks(const RawJson& capabilities);
// An object with these members before its own.
RawJson with_members(std::string_view members, const RawJson& object);
// A result as the era has it.
RawJson completed(Era era, const RawJson& result);
// The same of a result with these members that a client may keep for a while, and show to its user alone.
RawJson cacheable(Era era, std::string_view members, std::chrono::milliseconds fresh = std::chrono::hours(1));
// The client's name for display; empty if it has none.
Implementation read_client_info(const RawJson& value);

} // namespace cellgate::mcp
