// `cellgate call SERVER TOOL JSON`: one tool call through the gate, its result as JSON.

#include "argument_error.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "sidecar_arguments.hpp"
#include "terminal_client.hpp"
#include "value_checks.hpp"

namespace cellgate::cli {

namespace {

struct CallArguments {
    SidecarArguments sidecar;
    std::string tool;
    std::string arguments = "{}";
    bool json = true; // in any case: the option is there as it is everywhere
    int exit_code = 0;
};

void check_arguments(const CallArguments& arguments) {
    if (const std::optional<JsonProblem> problem = check_json(arguments.arguments)) {
        throw ArgumentError(
            ErrorCode::arguments_invalid,
            fmt::format("expected the arguments as a JSON object, found {} at byte {}", problem->what, problem->offset),
            "quote them for the shell: '{\"path\": \"notes.txt\"}'");
    }
}

Task<void> call(CallArguments* arguments, TerminalClient& client) {
    protocol::ToolsCallParams params{arguments->sidecar.server, arguments->tool, RawJson::checked(arguments->arguments),
                                     std::nullopt, RawJson::checked("\"call\"")};
    const protocol::CallToolResult result = co_await client.sidecar().call<protocol::ToolsCall>(std::move(params));
    fmt::print("{}\n", to_json(result));
    arguments->exit_code = result.is_error.value_or(false) ? 1 : 0;
}

} // namespace

void add_call(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<CallArguments>();
    CLI::App* command = app.add_subcommand("call", "Call one tool, through the gate, and print its result as JSON");
    command
        ->add_option("SERVER", arguments->sidecar.server,
                     "A server of .mcp.json, .vscode/mcp.json or --mcp-config, `host`, or any name with a COMMAND")
        ->type_name("")
        ->required();
    command->add_option("TOOL", arguments->tool, "The tool, by its name at the server")->required()->type_name("");
    command->add_option("JSON", arguments->arguments, "The arguments, as a JSON object; default: {}")->type_name("");
    show_forms(*command, "What starts SERVER, for this call");
    arguments->sidecar.add_to(*command);
    add_json(*command, arguments->json);
    command->callback([arguments, &invocation] {
        arguments->sidecar.take_server_command(invocation);
        invocation.run = on_loop(arguments, [](async::Loop* loop, CallArguments* parsed) {
            check_arguments(*parsed);
            return with_client(call)(loop, parsed);
        });
    });
}

} // namespace cellgate::cli
