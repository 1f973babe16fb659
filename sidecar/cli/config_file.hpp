#pragma once
// `use_config_file` takes options of the command line also from the user's configuration file, in TOML. What the
// command line says wins. Nothing is read from the workspace.
//
//     [run]                     # options of `cellgate run`, without the dashes
//     sandbox = "gvisor"
//     allow-read = ["~/datasets"]
//
//     [session.create]
//     profile = "data-science"

#include "base/error.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace cellgate::cli {

// $XDG_CONFIG_HOME/cellgate/config.toml, or what --config-file names.
void use_config_file(CLI::App& app);

// The path of the file, whether or not it is there.
std::string config_file_of(const CLI::App& app);
// What is wrong with the file, and where it is.
Error config_file_error(const CLI::App& app, const CLI::ConfigError& error);

struct ConfiguredOption {
    std::string name; // "run.allow-read"
    std::vector<std::string> values;
    std::string from; // "FILE:LINE"
};

// What the file that `app` takes options from says. None if there is no file.
std::vector<ConfiguredOption> configured_options(const CLI::App& app);

} // namespace cellgate::cli
