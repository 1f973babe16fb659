// `cellgate lsp`: a language server, for any editor with a language client.

#include "commands.hpp"
#include "daemon/stdio.hpp"
#include "lsp/server.hpp"
#include "value_checks.hpp"

#include <memory>
#include <string>

namespace cellgate::cli {

namespace {

Task<void> serve_editor(async::Loop* loop, const std::string* workspace, int* exit_code) {
    lsp::Server server(*loop, daemon::take_stdio(*loop), *workspace);
    const bool shut_down = co_await server.run();
    *exit_code = shut_down ? 0 : 1;
}

} // namespace

void add_lsp(CLI::App& app, Invocation& invocation) {
    auto workspace = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand(
        "lsp", "A language server on stdin and stdout: cells, and answers to what waits, in any editor");
    command->add_option("--root", *workspace, "The workspace; default: the folder that the editor names")
        ->check(existing_folder())
        ->type_name("DIR");
    command->callback([workspace, &invocation] {
        invocation.run = [workspace] {
            async::Loop loop;
            int exit_code = 1;
            loop.run(serve_editor(&loop, workspace.get(), &exit_code));
            return exit_code;
        };
    });
}

} // namespace cellgate::cli
