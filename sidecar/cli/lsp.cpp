// `cellgate lsp`: a language server, for any editor with a language client.

#include "commands.hpp"
#include "daemon/stdio.hpp"
#include "lsp/server.hpp"
#include "run_on_loop.hpp"
#include "value_checks.hpp"

#include <memory>
#include <string>

namespace cellgate::cli {

namespace {

struct LspArguments {
    std::string workspace;
    int exit_code = 1;
};

Task<void> serve_editor(async::Loop* loop, LspArguments* arguments) {
    lsp::Server server(*loop, daemon::take_stdio(*loop), arguments->workspace);
    const bool shut_down = co_await server.run();
    arguments->exit_code = shut_down ? 0 : 1;
}

} // namespace

void add_lsp(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<LspArguments>();
    CLI::App* command = app.add_subcommand(
        "lsp", "A language server on stdin and stdout: cells, and answers to what waits, in any editor");
    command->add_option("--root", arguments->workspace, "The workspace; default: the folder that the editor names")
        ->check(existing_folder())
        ->type_name("DIR");
    run_on_loop(*command, invocation, arguments, serve_editor);
}

} // namespace cellgate::cli
