#pragma once
// `add_log_level` is the option --log-level.

#include "base/log.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace cellgate::cli {

// `level` has the default, and must live until the command line is parsed.
void add_log_level(CLI::App& command, LogLevel& level, const std::string& meaning);

} // namespace cellgate::cli
