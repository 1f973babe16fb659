#pragma once
// `add_root` is the option --root DIR.

#include <CLI/CLI.hpp>

#include <string>

namespace cellgate::cli {

void add_root(CLI::App& command, std::string& workspace);

} // namespace cellgate::cli
