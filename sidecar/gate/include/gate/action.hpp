#pragma once
// `Action` is one thing that needs permission, with its exact payload: an alternative for each kind. Enforcement points
// make it; to_protocol() makes what clients see.

#include "base/raw_json.hpp"
#include "gate/action_fields.hpp"
#include "protocol/messages/policy.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace cellgate::gate {

using ActionKind = protocol::ActionKind;

// In every alternative: `kind` is the rules' and the protocol's name of it, `hash_number` its number in the hashes of
// stored grants, which never changes.

// A call of a tool of an MCP server.
struct ToolCall {
    static constexpr ActionKind kind = ActionKind::tool;
    static constexpr int hash_number = 0;
    std::string server;
    std::string tool;
    RawJson arguments;
    std::string server_identity;
    std::string tool_identity;
    template <class Self>
    static auto fields(Self& self) {
        return std::tuple(member<field::Server>(self.server), member<field::Tool>(self.tool),
                          member<field::Arguments>(self.arguments), member<field::ServerIdentity>(self.server_identity),
                          member<field::ToolIdentity>(self.tool_identity));
    }
};

// A call of a tool of the built-in server.
struct HostCall {
    static constexpr ActionKind kind = ActionKind::host;
    static constexpr int hash_number = 1;
    static constexpr std::string_view server = "host";
    std::string tool;
    RawJson arguments;
    std::optional<std::vector<std::string>> command; // that the call runs, resolved
    std::string server_identity;
    std::string tool_identity;
    template <class Self>
    static auto fields(Self& self) {
        return std::tuple(FixedField<field::Server>{server}, member<field::Tool>(self.tool),
                          member<field::Arguments>(self.arguments), member<field::Command>(self.command),
                          member<field::ServerIdentity>(self.server_identity),
                          member<field::ToolIdentity>(self.tool_identity));
    }
};

// A call of one of a client's own tools, which the client carries out itself, outside the sandbox.
struct ClientCall {
    static constexpr ActionKind kind = ActionKind::tool;
    static constexpr int hash_number = 9;
    std::string server; // the name under which rules have the client's tools
    std::string tool;
    std::string cwd; // where the client carries it out
    RawJson arguments;
    std::string server_identity;
    std::string tool_identity;
    template <class Self>
    static auto fields(Self& self) {
        return std::tuple(member<field::Server>(self.server), member<field::Tool>(self.tool),
                          member<field::Cwd>(self.cwd), member<field::Arguments>(self.arguments),
                          member<field::ServerIdentity>(self.server_identity),
                          member<field::ToolIdentity>(self.tool_identity));
    }
};

// The settings by which a tool server runs in the sandbox.
struct SandboxSettings {
    std::string file;
    RawJson text; // an object
};

// The start of a tool server.
struct ServerStart {
    static constexpr ActionKind kind = ActionKind::server;
    static constexpr int hash_number = 2;
    std::string server;
    std::vector<std::string> command;
    std::string cwd;
    std::vector<std::string> environment_names;
    std::optional<std::map<std::string, std::string>> environment; // what a file of the workspace says, as written
    std::optional<bool> sandbox;
    std::optional<protocol::SandboxLauncher> launcher; // of the sandbox, if it is not the default one
    std::optional<SandboxSettings> settings;
    std::optional<std::vector<std::string>> folders; // that it can read in the sandbox
    std::string server_identity;
    template <class Self>
    static auto fields(Self& self) {
        return std::tuple(member<field::Server>(self.server), member<field::Command>(self.command),
                          member<field::Cwd>(self.cwd), member<field::EnvironmentNames>(self.environment_names),
                          member<field::Environment>(self.environment), member<field::Sandbox>(self.sandbox),
                          member<field::SandboxLauncher>(self.launcher), member<field::SandboxSettings>(self.settings),
                          member<field::Folders>(self.folders), member<field::ServerIdentity>(self.server_identity));
    }
};

// The use of a tool server at a URL, which begins with a connection to it.
struct ServerUse {
    static constexpr ActionKind kind = ActionKind::server;
    static constexpr int hash_number = 6;
    std::string server;
    std::string url; // as written
    std::vector<std::string> header_names;
    std::optional<std::map<std::string, std::string>> headers; // what a file of the workspace says, as written
    std::string server_identity;
    template <class Self>
    static auto fields(Self& self) {
        return std::tuple(member<field::Server>(self.server), member<field::Url>(self.url),
                          member<field::HeaderNames>(self.header_names), member<field::Headers>(self.headers),
                          member<field::ServerIdentity>(self.server_identity));
    }
};

// The start of a kernel that the workspace decides on. To rules and clients it is of kind `server`, and the server is
// named "kernel".
struct KernelStart {
    static constexpr ActionKind kind = ActionKind::server;
    static constexpr int hash_number = 2;
    static constexpr std::string_view server = "kernel";
    std::vector<std::string> command;
    std::string cwd;
    std::vector<std::string> environment_names;
    std::optional<std::map<std::string, std::string>> environment;
    bool sandbox = false; // all of it runs there, and nothing outside
    std::optional<std::vector<std::string>> folders;
    std::string server_identity;
    template <class Self>
    static auto fields(Self& self) {
        return std::tuple(FixedField<field::Server>{server}, member<field::Command>(self.command),
                          member<field::Cwd>(self.cwd), member<field::EnvironmentNames>(self.environment_names),
                          member<field::Environment>(self.environment), member<field::Sandbox>(self.sandbox),
                          member<field::Folders>(self.folders), member<field::ServerIdentity>(self.server_identity));
    }
};

// A connection out of a sandbox.
struct Connection {
    static constexpr ActionKind kind = ActionKind::network;
    static constexpr int hash_number = 3;
    std::optional<std::string> server; // the tool server in the sandbox; nothing for a session
    std::string host;
    std::optional<std::int64_t> port;
    std::optional<protocol::NetworkProtocol> protocol; // of what passes; nothing: whether it may be opened
    std::optional<std::string> program;                // that wants to connect, as the sandbox says
    std::optional<std::string> server_identity;
    template <class Self>
    static auto fields(Self& self) {
        return std::tuple(member<field::Server>(self.server), member<field::Host>(self.host),
                          member<field::Port>(self.port), member<field::Protocol>(self.protocol),
                          member<field::Program>(self.program), member<field::ServerIdentity>(self.server_identity));
    }
};

// A request of HTTP to a host whose requests are judged one by one.
struct HttpRequest {
    static constexpr ActionKind kind = ActionKind::request;
    static constexpr int hash_number = 7;
    std::optional<std::string> server; // the tool server in the sandbox; nothing for a session
    std::optional<bool> tls;
    std::string host;
    std::optional<std::int64_t> port;
    std::string method;
    std::string path;
    std::optional<std::string> query;
    std::optional<std::vector<std::string>> request_headers; // "name: value"
    std::optional<std::vector<std::string>> secrets;         // that are put in; sorted
    std::optional<std::int64_t> body_bytes;
    std::optional<std::string> body_sha256;
    std::optional<std::string> body; // where it is text
    std::optional<std::string> program;
    std::optional<std::string> server_identity;
    template <class Self>
    static auto fields(Self& self) {
        return std::tuple(member<field::Server>(self.server), member<field::Tls>(self.tls),
                          member<field::Host>(self.host), member<field::Port>(self.port),
                          member<field::Method>(self.method), member<field::UrlPath>(self.path),
                          member<field::Query>(self.query), member<field::Secrets>(self.secrets),
                          member<field::BodyBytes>(self.body_bytes), member<field::BodySha256>(self.body_sha256),
                          member<field::Body>(self.body), member<field::RequestHeaders>(self.request_headers),
                          member<field::Program>(self.program), member<field::ServerIdentity>(self.server_identity));
    }
};

// An install of packages.
struct Install {
    static constexpr ActionKind kind = ActionKind::install;
    static constexpr int hash_number = 5;
    std::vector<std::string> command;
    std::optional<std::vector<std::string>> environment_names;
    template <class Self>
    static auto fields(Self& self) {
        return std::tuple(member<field::Command>(self.command),
                          member<field::EnvironmentNames>(self.environment_names));
    }
};

// Text of an agent's execution, on its way to the agent.
struct Output {
    static constexpr ActionKind kind = ActionKind::output;
    static constexpr int hash_number = 8;
    std::string output_text;
    std::optional<std::vector<std::string>> results; // "server/tool": what the session has that a user wants to see
    template <class Self>
    static auto fields(Self& self) {
        return std::tuple(member<field::Results>(self.results), member<field::OutputText>(self.output_text));
    }
};

using Action = std::variant<ToolCall, HostCall, ServerStart, ServerUse, KernelStart, Connection, HttpRequest, Install,
                            Output, ClientCall>;

ActionKind kind_of(const Action& action);

// Calls `visit(Tag{}, value)` for each field that the action has, in the order of its fields().
template <class Visit>
void for_each_field(const Action& action, const Visit& visit) {
    const auto visit_present = [&visit]<class Bound>(const Bound& bound) {
        if (const auto* value = detail::present(bound.value)) {
            visit(typename Bound::tag{}, *value);
        }
    };
    std::visit([&visit_present](const auto& alternative) { for_each_bound(alternative, visit_present); }, action);
}

protocol::Action to_protocol(const Action& action);

// Of a client that asks what a rule would decide, or for a decision. A kernel's start is read as that of a tool server,
// which is the same to rules; a call of a tool with a folder is a ClientCall; identities may be missing. Throws
// Error{invalid_params} when another field of the kind is missing, or nothing is of the kind.
Action from_protocol(const protocol::Action& action);

} // namespace cellgate::gate
