// `cellgate mcp`: the MCP server for agents, on stdin and stdout or over HTTP, and its entry in an MCP client's
// configuration.

#include "agent/client_config.hpp"
#include "agent/serve_agent.hpp"
#include "agent/serve_http.hpp"
#include "argument_error.hpp"
#include "base/environment.hpp"
#include "base/escape_unprintable.hpp"
#include "base/host.hpp"
#include "commands.hpp"
#include "log_level_option.hpp"
#include "program_to_call.hpp"
#include "service/sidecar.hpp"
#include "value_checks.hpp"
#include "workspace_option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>

namespace cellgate::cli {

namespace {

struct HttpArguments {
    std::string at;
    agent::HttpOptions options;
};

// `config`: the option that excludes --http.
void add_http(CLI::App& command, const std::shared_ptr<HttpArguments>& http, CLI::Option* config) {
    CLI::Option* at = command.add_option(
        "--http", http->at,
        "Serve agents over HTTP at HOST:PORT instead, until SIGINT; port 0: one that is free, which is printed");
    at->type_name("HOST:PORT")->excludes(config);
    command
        .add_option("--token-file", http->options.token_file,
                    "The token that requests need; without it a new one is made, and the path of its file printed")
        ->type_name("FILE")
        ->needs(at);
    CLI::Option* certificate =
        command.add_option("--tls-cert", http->options.certificate_file,
                           "Serve HTTPS with this certificate (PEM); a HOST beyond this machine needs it");
    CLI::Option* key = command.add_option("--tls-key", http->options.key_file, "The certificate's key (PEM)");
    certificate->type_name("FILE")->needs(at)->needs(key);
    key->type_name("FILE")->needs(certificate);
}

// HOST:PORT, where port 0 is one that is free.
std::optional<Endpoint> listening_endpoint(std::string_view text) {
    constexpr std::string_view any_port = ":0";
    if (!text.ends_with(any_port)) {
        return parse_endpoint(text, std::nullopt);
    }
    text.remove_suffix(any_port.size());
    const std::optional<Host> host = parse_host(text);
    return host ? std::optional(Endpoint{*host, 0}) : std::nullopt;
}

Task<void> serve_agents(async::Loop* loop, agent::AgentOptions options, HttpArguments http) {
    if (http.at.empty()) {
        return agent::serve_agent(loop, std::move(options), process_environment());
    }
    const std::optional<Endpoint> endpoint = listening_endpoint(http.at);
    if (!endpoint) {
        throw ArgumentError(ErrorCode::invalid_params,
                            fmt::format("--http: expected HOST:PORT, found {}", escape_unprintable(http.at)),
                            "for example 127.0.0.1:0");
    }
    http.options.endpoint = *endpoint;
    return agent::serve_agents_over_http(loop, std::move(options), std::move(http.options), process_environment());
}

} // namespace

void add_mcp(CLI::App& app, Invocation& invocation) {
    auto options = std::make_shared<agent::AgentOptions>();
    auto client = std::make_shared<std::string>();
    auto http = std::make_shared<HttpArguments>();
    options->sidecar.workspace = ".";
    CLI::App* command = app.add_subcommand(
        "mcp", "Serve an agent over MCP, on stdin and stdout, or agents over HTTP: they run code, and a user answers");
    add_root(*command, options->sidecar.workspace);
    command
        ->add_option("--trace", options->sidecar.trace_file,
                     "If this starts the workspace's sidecar: it appends every message to FILE, as JSON lines")
        ->type_name("FILE");
    std::vector<std::string> tool_sets;
    for (const agent::ToolSet& each : agent::tool_sets()) {
        tool_sets.emplace_back(each.name);
    }
    command
        ->add_option("--as", options->tool_set,
                     "The tools that are offered: few (default), all, or those of ipybox, Python Sandbox Server "
                     "(python-sandbox) or sandboxmcp, with their names and results")
        ->check(one_of(tool_sets))
        ->type_name("NAME");
    add_log_level(*command, options->sidecar.log_level, "If this starts the sidecar: what it logs");
    CLI::Option* config =
        command->add_option("--print-config", *client,
                            fmt::format("Print what to write into the configuration of an MCP client: {}",
                                        fmt::join(agent::mcp_clients(), ", ")));
    config->check(one_of(agent::mcp_clients()))->type_name("CLIENT");
    add_http(*command, http, config);
    command->callback([options, client, http, &invocation] {
        invocation.run = [options, client, http] {
            if (!client->empty()) {
                const std::string workspace = service::canonical_workspace(options->sidecar.workspace);
                const agent::McpClientConfig config =
                    agent::mcp_client_config(*client, own_program(), workspace, options->tool_set);
                fmt::print("{}", config.text);
                fmt::print(stderr, "cellgate: this goes into {}\n", config.file);
                return 0;
            }
            async::Loop loop;
            loop.run(serve_agents(&loop, *options, *http));
            return 0;
        };
    });
}

} // namespace cellgate::cli
