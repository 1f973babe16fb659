#pragma once
// The subcommands. Each adds itself to the command line; what it runs returns the exit code.

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::cli {

// One call of this program.
struct Invocation {
    // How the person calls it again, from the current folder.
    std::string program;
    // What stands after `--`: a command that starts a tool server. The parser never sees it, as it would take a word
    // such as [a,b] apart.
    std::optional<std::vector<std::string>> server_command;
    bool takes_server_command = false;
    // What was chosen; set by the callback of a subcommand, run afterwards.
    std::function<int()> run;
};

void add_connect(CLI::App& app, Invocation& invocation);
void add_status(CLI::App& app, Invocation& invocation);
void add_stop(CLI::App& app, Invocation& invocation);
void add_serve(CLI::App& app, Invocation& invocation);
void add_root_sidecar(CLI::App& app, Invocation& invocation);
void add_run(CLI::App& app, Invocation& invocation);
void add_generate(CLI::App& app, Invocation& invocation);
void add_call(CLI::App& app, Invocation& invocation);
void add_install(CLI::App& app, Invocation& invocation);
void add_kernels(CLI::App& app, Invocation& invocation);
void add_doctor(CLI::App& app, Invocation& invocation);
void add_sandbox(CLI::App& app, Invocation& invocation);
void add_demo(CLI::App& app, Invocation& invocation);
void add_mcp(CLI::App& app, Invocation& invocation);

} // namespace cellgate::cli
