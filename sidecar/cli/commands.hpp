#pragma once
// `add_…` are the subcommands: each registers itself on the command line and sets `Invocation::run`, which returns the
// exit code.

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::cli {

// One call of this program.
struct Invocation {
    // The command with which the user calls it again, from the current folder.
    std::string program;
    // The words after `--`: a command that starts a tool server. Kept from the parser, which would split a word such as
    // [a,b].
    std::optional<std::vector<std::string>> server_command;
    bool takes_server_command = false;
    // Set by the callback of the chosen subcommand; called after parsing.
    std::function<int()> run;
};

void add_connect(CLI::App& app, Invocation& invocation);
void add_status(CLI::App& app, Invocation& invocation);
void add_stop(CLI::App& app, Invocation& invocation);
void add_serve(CLI::App& app, Invocation& invocation);
void add_workspace_sidecar(CLI::App& app, Invocation& invocation);
void add_check(CLI::App& app, Invocation& invocation);
void add_runtimes(CLI::App& app, Invocation& invocation);
void add_run(CLI::App& app, Invocation& invocation);
void add_generate(CLI::App& app, Invocation& invocation);
void add_call(CLI::App& app, Invocation& invocation);
void add_save(CLI::App& app, Invocation& invocation);
void add_login(CLI::App& app, Invocation& invocation);
void add_logout(CLI::App& app, Invocation& invocation);
void add_decider(CLI::App& app, Invocation& invocation);
void add_hook(CLI::App& app, Invocation& invocation);
void add_lsp(CLI::App& app, Invocation& invocation);
void add_install(CLI::App& app, Invocation& invocation);
void add_image(CLI::App& app, Invocation& invocation);
void add_kernels(CLI::App& app, Invocation& invocation);
void add_record(CLI::App& app, Invocation& invocation);
void add_policy(CLI::App& app, Invocation& invocation);
void add_secret(CLI::App& app, Invocation& invocation);
void add_changes(CLI::App& app, Invocation& invocation);
void add_undo(CLI::App& app, Invocation& invocation);
void add_verify(CLI::App& app, Invocation& invocation);
void add_events(CLI::App& app, Invocation& invocation);
void add_limits(CLI::App& app, Invocation& invocation);
void add_approvals(CLI::App& app, Invocation& invocation);
void add_session(CLI::App& app, Invocation& invocation);
void add_queue(CLI::App& app, Invocation& invocation);
void add_servers(CLI::App& app, Invocation& invocation);
void add_transfer(CLI::App& app, Invocation& invocation);
void add_stats(CLI::App& app, Invocation& invocation);
void add_config(CLI::App& app, Invocation& invocation);
void add_doctor(CLI::App& app, Invocation& invocation);
void add_sandbox(CLI::App& app, Invocation& invocation);
void add_completion(CLI::App& app, Invocation& invocation);
void add_man(CLI::App& app, Invocation& invocation);
void add_demo(CLI::App& app, Invocation& invocation);
void add_mcp(CLI::App& app, Invocation& invocation);

} // namespace cellgate::cli
