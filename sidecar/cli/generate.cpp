// `cellgate generate NAME [-- COMMAND…]`: the Python package of a tool server.

#include "commands.hpp"
#include "sidecar_arguments.hpp"
#include "terminal_client.hpp"

namespace cellgate::cli {

namespace {

struct GenerateArguments {
    SidecarArguments sidecar;
    std::string name;
    std::vector<std::string> command;
    std::string out_dir;
};

Task<void> generate(GenerateArguments arguments, TerminalClient& client) {
    protocol::WrappersGenerateParams params;
    params.server = arguments.name;
    if (!arguments.command.empty()) {
        protocol::McpServerConfig config;
        config.command = arguments.command.front();
        config.args = std::vector<std::string>(arguments.command.begin() + 1, arguments.command.end());
        params.config = std::move(config);
    }
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
}

} // namespace

void add_generate(CLI::App& app, Run& run) {
    auto arguments = std::make_shared<GenerateArguments>();
    CLI::App* command = app.add_subcommand(
        "generate", "Write the Python package mcptools.NAME of an MCP server's tools, and print its modules");
    command->add_option("NAME", arguments->name, "The server: its package's name, and its name in rules")->required();
    command->add_option("COMMAND", arguments->command,
                        "After --: what starts the server. Without it, a server of .mcp.json, .vscode/mcp.json or "
                        "--mcp-config, or the built-in `host`");
    command->add_option("--out", arguments->out_dir, "The folder for mcptools/; default: the root")->type_name("DIR");
    arguments->sidecar.add_to(*command);
    command->callback([arguments, &run] {
        run = [arguments] {
            async::Loop loop;
            loop.run(with_terminal_client(&loop, arguments->sidecar.options(),
                                          [&](TerminalClient& client) { return generate(*arguments, client); }));
            return 0;
        };
    });
}

} // namespace cellgate::cli
