#pragma once
// `serve_agents_over_http` is `cellgate mcp --http`: an MCP server for several agents at a time, over Streamable HTTP.
// A request needs the token of the server's user. Each agent is a client of the sidecar by itself, of role agent: it
// can do what one on stdin can, and no more.

#include "agent/serve_agent.hpp"
#include "base/environment.hpp"
#include "base/host.hpp"

#include <string>

namespace cellgate::agent {

struct HttpOptions {
    Endpoint endpoint;      // port 0: one that is free
    std::string token_file; // empty: a new token in a file of this process, which is removed at the end
    std::string certificate_file;
    std::string key_file;
};

// Until SIGINT or SIGTERM. Prints on stderr where it listens and where the token is. Throws Error{config_invalid} for
// options that cannot be: no TLS beyond this machine, a token that others can read; and what HttpServer throws.
Task<void> serve_agents_over_http(async::Loop* loop, AgentOptions options, HttpOptions http, Environment environment);

} // namespace cellgate::agent
