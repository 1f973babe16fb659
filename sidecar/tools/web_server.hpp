#pragma once
// `web` is the tool server that a configuration names by `"builtin": "web"` (docs/web.md): a program for Node.js, made
// from sidecar/web, that lies beside cellgate's own in share/cellgate. It runs in the sandbox of tool servers, and sees
// neither the home nor the workspace there.

#include "base/environment.hpp"
#include "base/host.hpp"
#include "base/raw_json.hpp"
#include "protocol/messages/tool_servers.hpp"
#include "tools/config.hpp"

#include <string>
#include <vector>

namespace cellgate::tools {

// Throws Error{config_invalid} for a `builtin` that is another one, or beside what cellgate says itself.
void require_web_server(const std::string& server, const protocol::McpServerConfig& config);

// `given` as the command that it means: node with the program. Where that is not known, its argument is its name.
protocol::McpServerConfig web_server_command(protocol::McpServerConfig given);

// Has its sandbox show the program, and not the workspace. Throws Error{config_invalid} if the program was not built,
// or `node` is not the absolute path of one.
void add_web_server(const std::string& server, const std::string& node, ServerIsolation& isolation);

// Where the URL in a call's arguments leads: its host and port; of a standard port both, since many hosts redirect from
// http to https. None for a URL that two readers could read differently.
std::vector<Endpoint> endpoints_of_call(const RawJson& arguments);

// Likewise of the search engine that its configuration names.
std::vector<Endpoint> search_endpoints(const Environment& environment);

} // namespace cellgate::tools
