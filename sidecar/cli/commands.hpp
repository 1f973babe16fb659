#pragma once
// The subcommands. Each adds itself to the command line; what it runs returns the exit code.

#include <CLI/CLI.hpp>

#include <functional>

namespace cellgate::cli {

// What was chosen on the command line; set by the callback of a subcommand, run afterwards.
using Run = std::function<int()>;

void add_serve(CLI::App& app, Run& run);
void add_run(CLI::App& app, Run& run);
void add_generate(CLI::App& app, Run& run);
void add_call(CLI::App& app, Run& run);
void add_kernels(CLI::App& app, Run& run);
void add_doctor(CLI::App& app, Run& run);
void add_demo(CLI::App& app, Run& run);

} // namespace cellgate::cli
