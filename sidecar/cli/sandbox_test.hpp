#pragma once
// `add_sandbox_test` is the subcommand `cellgate sandbox test`.

#include <CLI/CLI.hpp>

namespace cellgate::cli {

struct Invocation;

void add_sandbox_test(CLI::App& group, Invocation& invocation);

} // namespace cellgate::cli
