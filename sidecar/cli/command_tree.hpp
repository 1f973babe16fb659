#pragma once
// `command_tree` reads the subcommands and options of this program as CLI11 has them: what completions and manual pages
// are made from. Internal subcommands (those without a group) are left out.

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace cellgate::cli {

std::vector<const CLI::App*> subcommands_of(const CLI::App& app);
// nullptr if there is none of that name.
const CLI::App* find_subcommand(const CLI::App& app, const std::string& name);
// Those with a name that begins with -, the help of each command among them.
std::vector<const CLI::Option*> named_options_of(const CLI::App& app);
std::vector<const CLI::Option*> positionals_of(const CLI::App& app);
// "--root" and "-h", "--help".
std::vector<std::string> names_of(const CLI::Option& option);
bool takes_value(const CLI::Option& option);
// What its value is called in the help: FILE, NAME, a|b.
std::string value_name(const CLI::Option& option);
// "[OPTIONS] FILE" or "[OPTIONS] [SUBCOMMAND]": what follows the command's name.
std::string usage_of(const CLI::App& app);

} // namespace cellgate::cli
