#pragma once
// `add_commands` registers every subcommand. `CommandTree` is a tree of them that is not for parsing: it knows each
// option's default, and its options can be tried with values.

#include "commands.hpp"

namespace cellgate::cli {

void add_commands(CLI::App& app, Invocation& invocation);

struct CommandTree {
    CommandTree();

    CLI::App app;
    Invocation invocation;
};

} // namespace cellgate::cli
