#pragma once
// The option --sandbox-config.

#include <CLI/CLI.hpp>

#include <string>

namespace cellgate::cli {

// `file` stays empty when it is not given, and must live until the command line is parsed.
CLI::Option* add_sandbox_config(CLI::App& command, std::string& file);

} // namespace cellgate::cli
