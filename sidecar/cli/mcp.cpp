// `cellgate mcp`: the MCP server for agents, and its entry in an MCP client's configuration.

#include "agent/client_config.hpp"
#include "agent/serve_agent.hpp"
#include "base/environment.hpp"
#include "commands.hpp"
#include "log_level_option.hpp"
#include "service/sidecar.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace cellgate::cli {

namespace {

std::string own_program() {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? "cellgate" : program.string();
}

} // namespace

void add_mcp(CLI::App& app, Invocation& invocation) {
    auto options = std::make_shared<daemon::WorkspaceSidecarOptions>();
    auto client = std::make_shared<std::string>();
    options->workspace = ".";
    CLI::App* command = app.add_subcommand(
        "mcp", "Serve an agent over MCP, on stdin and stdout: it runs code, and a user answers for it");
    command->add_option("--root", options->workspace, "The workspace; default: the current directory")
        ->check(CLI::ExistingDirectory.description({}))
        ->type_name("DIR");
    command
        ->add_option("--trace", options->trace_file,
                     "If this starts the workspace's sidecar: it appends every message to FILE, as JSON lines")
        ->type_name("FILE");
    add_log_level(*command, options->log_level, "If this starts the sidecar: what it logs");
    command
        ->add_option("--print-config", *client,
                     "Print what to write into the configuration of an MCP client: vscode, claude, cursor or neovim")
        ->check(CLI::IsMember(std::vector<std::string>(std::begin(agent::mcp_clients), std::end(agent::mcp_clients)))
                    .description({}))
        ->type_name("CLIENT");
    command->callback([options, client, &invocation] {
        invocation.run = [options, client] {
            if (!client->empty()) {
                const std::string workspace = service::canonical_workspace(options->workspace);
                const agent::McpClientConfig config = agent::mcp_client_config(*client, own_program(), workspace);
                fmt::print("{}", config.json);
                fmt::print(stderr, "cellgate: this goes into {}\n", config.file);
                return 0;
            }
            async::Loop loop;
            loop.run(agent::serve_agent(&loop, *options, process_environment()));
            return 0;
        };
    });
}

} // namespace cellgate::cli
