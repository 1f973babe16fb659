#pragma once
// The arguments of every command that runs a sidecar of its own.

#include "commands.hpp"
#include "service/sidecar.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::cli {

struct SidecarArguments {
    std::string root = ".";
    std::vector<std::string> allow;
    std::string mcp_config;
    std::string trace;
    // A tool server that the command line names and starts.
    std::string server;
    std::optional<std::vector<std::string>> server_command;

    void add_to(CLI::App& command);
    // After `server` was read. Throws CLI::ParseError.
    void take_server_command(Invocation& invocation);
    // Throws Error{rule_invalid, config_invalid}.
    service::SidecarOptions options() const;
    // The words that make another command know the same workspace and tool servers, as `run` takes them.
    std::vector<std::string> words() const;
};

// Shows `[-- COMMAND...]` in a command's usage, and below its options what that means, and what a rule is.
void show_forms(CLI::App& command, const std::string& meaning);

} // namespace cellgate::cli
