#pragma once
// `ServerSpec` is how a tool server is configured: by the `mcpServers` of MCP clients, or VS Code's `servers` with
// `inputs`. What a configuration says is shown and agreed to as it is written; variables are put in only when the
// server starts. A server may ask for the sandbox, by `"sandbox": true`, `"sandbox": {"launcher": …, "configFile": …}`,
// or by a command of srt's (srt_command.hpp), which is described as what runs in there.

#include "base/environment.hpp"
#include "base/error.hpp"
#include "gate/agent.hpp"
#include "mcp/http_connection.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "sandbox/isolation.hpp"
#include "sandbox/settings.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::tools {

struct OAuthSettings; // oauth_settings.hpp

inline constexpr std::string_view host_server_name = "host";
inline constexpr std::string_view saved_server_name = "saved";
inline constexpr std::string_view kernel_server_name = "kernel"; // where tool servers are listed, it is not

struct ServerSpec {
    std::string name;
    protocol::McpServerConfig config;
    protocol::ToolServerSource source = protocol::ToolServerSource::user;
    std::optional<std::string> file;  // that names it
    std::optional<gate::Agent> agent; // that named it
};

// Not a user's word: it starts only after a user agreed, and they are shown all that it says.
inline bool requires_approval(protocol::ToolServerSource source) {
    return source == protocol::ToolServerSource::workspace_file || source == protocol::ToolServerSource::agent;
}

struct ConfigFile {
    std::vector<ServerSpec> servers;
    std::vector<std::string> problems; // one for each server that cannot be used
};

// Throws Error{config_invalid} unless `spec` names a server that could be started or reached.
void require_usable(const ServerSpec& spec);

// The text of a `.mcp.json` or `.vscode/mcp.json` (which may have comments). Throws Error{config_invalid} when it is no
// such file at all.
ConfigFile parse_config(std::string_view text, const std::string& file);

// Both files of a workspace, as far as they are there. A file that cannot be read is one more problem.
ConfigFile read_workspace_config(const std::string& workspace);

// By which file it runs in the sandbox is for users to say: an agent's server may ask for the sandbox alone. Throws
// Error{config_invalid}.
bool names_settings(const ServerSpec& spec);

// That it runs in the sandbox, and what is shown to it there beside the system.
struct ServerIsolation {
    sandbox::Isolation isolation = sandbox::default_isolation;
    std::shared_ptr<const sandbox::Settings> settings; // nothing: the default profile
    std::vector<std::string> folders;                  // of its program
    bool shows_workspace = true;
};

// A server as a user is asked about it: nothing is put in for variables but the workspace's folder.
struct ServerDescription {
    std::vector<std::string> command;           // resolved: argv[0] is an absolute path, when it is known
    std::string cwd;                            // absolute
    std::vector<std::string> environment_names; // that it gets, and that its configuration reads
    std::optional<Environment> environment; // what a workspace's file or an agent says for them; a user's are not shown
    std::optional<ServerIsolation> sandbox; // if it runs in it
    std::string url;                        // as written, of one that runs elsewhere
    std::vector<std::string> header_names;  // that its requests carry
    std::optional<Environment> headers;     // as `environment`
    std::string identity;
    std::optional<Error>
        problem; // why it cannot start as it is: settings that cannot be read, an input that is missing
};

// `environment` is this process's. Reads the settings of its sandbox, if it names some; what is wrong with them, or
// with its variables and inputs, is the description's problem, so that one such server stops no other. Throws
// Error{config_invalid}.
ServerDescription describe(const ServerSpec& spec, const std::string& workspace, const Environment& environment);

// What is put in that is not of the environment: its inputs by id, its secrets by name.
struct GivenValues {
    Environment inputs;
    Environment secrets;
};

// What really starts: `described` with the variables put in. Throws Error{config_invalid} for a variable that is not
// set and has no default, or an input or a secret without a value.
struct ServerCommand {
    std::vector<std::string> argv;
    std::string cwd;
    Environment environment; // all of it; in the sandbox, what it gets beside a clean one
};
ServerCommand expand(const ServerSpec& spec, const ServerDescription& described, const std::string& workspace,
                     const Environment& environment, const GivenValues& given);

// Where the requests to a server with a URL really go, with the variables put in. Throw as expand().
std::string expand_url(const ServerSpec& spec, const std::string& workspace, const Environment& environment,
                       const GivenValues& given);
mcp::HttpEndpoint expand_endpoint(const ServerSpec& spec, const std::string& workspace, const Environment& environment,
                                  const GivenValues& given);

// What it says about the login, likewise.
OAuthSettings expand_oauth(const ServerSpec& spec, const std::string& workspace, const Environment& environment,
                           const GivenValues& given);

// What a program gets of our environment: HOME, LOGNAME, PATH, SHELL, TERM, USER, LANG.
Environment small_environment(const Environment& environment);

} // namespace cellgate::tools
