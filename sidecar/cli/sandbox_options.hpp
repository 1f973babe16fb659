#pragma once
// What a person says of the sandbox on the command line: --sandbox-config, --allow-read, --allow-write, --gpu.

#include "sandbox/settings.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace cellgate::cli {

// Paths are made absolute from the current directory.
struct SandboxOptions {
    std::string config; // empty: none
    std::vector<std::string> allow_read;
    std::vector<std::string> allow_write;
    bool gpu = false;

    // They must live until the command line is parsed. Returns what was added.
    std::vector<CLI::Option*> add_to(CLI::App& command);
    // Nothing for the sandbox as it is. Throws what read_settings() does.
    std::shared_ptr<const sandbox::Settings> settings() const;
    sandbox::Additions additions() const;
};

// `launcher` stays empty when it is not given, and must live until the command line is parsed.
CLI::Option* add_sandbox_launcher(CLI::App& command, std::string& launcher);

// `file` stays empty when it is not given, and must live until the command line is parsed.
CLI::Option* add_sandbox_config(CLI::App& command, std::string& file);

} // namespace cellgate::cli
