// `cellgate generate NAME [-- COMMAND…]`: the package of a tool server, in Python or TypeScript.

#include "base/shell_words.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "sidecar_arguments.hpp"
#include "terminal_client.hpp"
#include "value_checks.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace cellgate::cli {

namespace {

struct GenerateArguments {
    SidecarArguments sidecar;
    std::string out_dir;
    protocol::WrapperLanguage language = protocol::WrapperLanguage::python;
    std::string program;
    bool json = false;
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

Task<void> generate(GenerateArguments* arguments, TerminalClient& client) {
    protocol::WrappersGenerateParams params;
    params.server = arguments->sidecar.server;
    params.language = arguments->language;
    if (!arguments->out_dir.empty()) {
        params.out_dir = arguments->out_dir;
    }
    const protocol::WrappersGenerateResult result =
        co_await client.sidecar().call<protocol::WrappersGenerate>(std::move(params));
    const bool typescript = arguments->language == protocol::WrapperLanguage::typescript;
    if (arguments->json) {
        fmt::print("{}\n", to_json(result));
        co_return;
    }
    for (const protocol::WrapperModule& module : result.modules) {
        fmt::print("{}\n", typescript ? module.path : module.module);
    }
    for (const protocol::SkippedTool& skipped : result.skipped) {
        client.printer().note(fmt::format("cellgate: the tool {} was left out: {}", skipped.tool, skipped.reason));
    }
    co_await print_layers(arguments->sidecar.server, &client);
    if (!arguments->out_dir.empty()) {
        co_return; // cells find packages in the workspace
    }
    // The package does not contain the server's command: a workspace may be someone else's.
    std::vector<std::string> words{arguments->program, "run", "FILE"};
    const std::vector<std::string> more = arguments->sidecar.words();
    words.insert(words.end(), more.begin(), more.end());
    std::string place = result.package;
    if (typescript) {
        std::replace(place.begin(), place.end(), '.', '/');
        place = "\"./" + place + "/index.ts\"";
    }
    client.printer().note(fmt::format("Cells import it from {}. To run them: {}", place, shell_words(words)));
}

} // namespace

void add_generate(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<GenerateArguments>();
    CLI::App* command = app.add_subcommand(
        "generate", "Write the package mcptools.NAME of an MCP server's tools, and print its modules");
    command->add_option("NAME", arguments->sidecar.server, "The server: its package's name, and its name in rules")
        ->type_name("")
        ->required();
    show_forms(*command, "What starts the server. Without it, NAME is a server of .mcp.json, .vscode/mcp.json "
                         "or --mcp-config, or the built-in `host`");
    const auto take_language = [arguments](const std::string& name) {
        arguments->language =
            name == "python" ? protocol::WrapperLanguage::python : protocol::WrapperLanguage::typescript;
    };
    command->add_option_function<std::string>("--language", take_language, "Of the package; default: python")
        ->check(one_of({"python", "typescript"}))
        ->default_str("python")
        ->type_name("python|typescript");
    command->add_option("--out", arguments->out_dir, "The folder for mcptools/; default: the workspace")
        ->type_name("DIR");
    arguments->sidecar.add_to(*command);
    add_json(*command, arguments->json);
    command->callback([arguments, &invocation] {
        arguments->sidecar.take_server_command(invocation);
        arguments->program = invocation.program;
        invocation.run = on_loop(arguments, with_client(generate));
    });
}

} // namespace cellgate::cli
