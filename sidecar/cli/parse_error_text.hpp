#pragma once
// `parse_error_text` says why words are no command line of this program, and what was meant.

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace cellgate::cli {

// What is wrong with the first word where it is no subcommand. `words`: the last one first.
std::optional<std::string> unknown_subcommand(const CLI::App& app, const std::vector<std::string>& words);
// Names the nearest of `app`, or the one that does what other programs call so.
std::string no_subcommand(const CLI::App& app, const std::string& name);
// The one with these names, from the program on. Throws ArgumentError with no_subcommand().
const CLI::App& named_subcommand(const CLI::App& app, const std::vector<std::string>& names);
// With line breaks. Of `app`, whose parsing threw `error`.
std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error);

} // namespace cellgate::cli
