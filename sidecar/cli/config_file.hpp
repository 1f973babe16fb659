#pragma once
// `use_config_file` takes options of the command line also from the user's configuration file, in TOML. What the
// command line says wins: it replaces the file's value, and those that its options exclude. Nothing is read from the
// workspace.
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
    std::string from;  // "FILE:LINE"
    std::string wrong; // what is wrong with the value; empty: nothing
};

struct ConfigFileContent {
    std::vector<ConfiguredOption> options;
    std::string error; // why it cannot be read; empty: it can, or there is none
};

// Of the file that `app` takes options from. Each value is tried with its option of `tree`.
ConfigFileContent config_file_content(const CLI::App& app, CLI::App& tree);

// What is wrong with the values for this option, which is as if it were not given after that; empty: nothing.
std::string wrong_value(CLI::Option& option, const std::vector<std::string>& values);

} // namespace cellgate::cli
