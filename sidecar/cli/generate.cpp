// `cellgate generate NAME [-- COMMAND…]`: the Python package of a tool server.

#include "base/shell_words.hpp"
#include "commands.hpp"
#include "sidecar_arguments.hpp"
#include "terminal_client.hpp"

#include <fmt/ranges.h>

namespace cellgate::cli {

namespace {

struct GenerateArguments {
    SidecarArguments sidecar;
    std::string out_dir;
    std::string program;
};

// Of one that runs in the sandbox.
Task<void> print_layers(std::string name, TerminalClient* client) {
    Empty nothing;
    const protocol::ToolServersListResult known = co_await client->sidecar().call<protocol::ToolServersList>(nothing);
    for (const protocol::ToolServerInfo& server : known.servers) {
        if (server.name != name || !server.layers) {
            continue;
        }
        client->printer().note(
            fmt::format("cellgate: {} ran in the sandbox: {}", name, fmt::join(*server.layers, ", ")));
        for (const std::string& notice : server.sandbox_notices.value_or(std::vector<std::string>{})) {
            client->printer().note("cellgate: " + notice);
        }
    }
}

Task<void> generate(GenerateArguments arguments, TerminalClient& client) {
    protocol::WrappersGenerateParams params;
    params.server = arguments.sidecar.server;
    if (!arguments.out_dir.empty()) {
        params.out_dir = arguments.out_dir;
    }
    const protocol::WrappersGenerateResult result =
        co_await client.sidecar().call<protocol::WrappersGenerate>(std::move(params));
    for (const protocol::WrapperModule& module : result.modules) {
        fmt::print("{}\n", module.module);
    }
    for (const protocol::SkippedTool& skipped : result.skipped) {
        client.printer().note(fmt::format("cellgate: the tool {} was left out: {}", skipped.tool, skipped.reason));
    }
    co_await print_layers(arguments.sidecar.server, &client);
    if (!arguments.out_dir.empty()) {
        co_return; // cells find packages in the workspace
    }
    // The package does not contain the server's command: a workspace may be someone else's.
    std::vector<std::string> words{arguments.program, "run", "FILE"};
    const std::vector<std::string> more = arguments.sidecar.words();
    words.insert(words.end(), more.begin(), more.end());
    client.printer().note(fmt::format("Cells import it from {}. To run them: {}", result.package, shell_words(words)));
}

} // namespace

void add_generate(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<GenerateArguments>();
    CLI::App* command = app.add_subcommand(
        "generate", "Write the Python package mcptools.NAME of an MCP server's tools, and print its modules");
    command->add_option("NAME", arguments->sidecar.server, "The server: its package's name, and its name in rules")
        ->type_name("")
        ->required();
    show_forms(*command, "What starts the server. Without it, NAME is a server of .mcp.json, .vscode/mcp.json "
                         "or --mcp-config, or the built-in `host`");
    command->add_option("--out", arguments->out_dir, "The folder for mcptools/; default: the workspace")
        ->type_name("DIR");
    arguments->sidecar.add_to(*command);
    command->callback([arguments, &invocation] {
        arguments->sidecar.take_server_command(invocation);
        arguments->program = invocation.program;
        invocation.run = [arguments] {
            async::Loop loop;
            loop.run(with_terminal_client(&loop, arguments->sidecar.options(),
                                          [&](TerminalClient& client) { return generate(*arguments, client); }));
            return 0;
        };
    });
}

} // namespace cellgate::cli
