#pragma once
// `SandboxOptions` is the group of command line options for the sandbox: --sandbox-config, --allow-read, --allow-write,
// --gpu.

#include "sandbox/isolation.hpp"
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

    // Must outlive the parsing of the command line. Returns the added options.
    std::vector<CLI::Option*> add_to(CLI::App& command);
    // nullptr for the default sandbox. Throws what read_settings() does.
    std::shared_ptr<const sandbox::Settings> settings() const;
    sandbox::Additions additions() const;
};

// `launcher` stays empty if the option is not given; it must outlive the parsing of the command line.
CLI::Option* add_sandbox_launcher(CLI::App& command, std::string& launcher);

// The kind with that launcher; the default one if the option was not given.
sandbox::Isolation isolation_of(const std::string& launcher);

// `image` stays empty if the option is not given; it must outlive the parsing of the command line.
CLI::Option* add_sandbox_image(CLI::App& command, std::string& image);

// `file` stays empty if the option is not given; it must outlive the parsing of the command line.
CLI::Option* add_sandbox_config(CLI::App& command, std::string& file);

} // namespace cellgate::cli
