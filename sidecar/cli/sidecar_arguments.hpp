#pragma once
// `SidecarArguments` is the group of arguments of every command that runs a sidecar of its own.

#include "commands.hpp"
#include "service/sidecar.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::cli {

struct SidecarArguments {
    std::string workspace = ".";
    std::vector<std::string> allow;
    std::string mcp_config;
    std::string trace;
    // A tool server from the command line.
    std::string server;
    std::optional<std::vector<std::string>> server_command;
    std::string url;
    std::vector<std::string> headers;     // "Name: value"
    std::vector<std::string> environment; // "NAME" or "NAME=value", of the server that the command starts
    std::vector<std::string> allow_domains;

    void add_to(CLI::App& command);
    // After `server` was read. Throw CLI::ParseError. For a command that takes no command of a server, check() alone.
    void check() const;
    void take_server_command(Invocation& invocation);
    // Throws Error{rule_invalid, config_invalid}.
    service::SidecarOptions options() const;
    // The arguments that give another command the same workspace and tool servers, as `run` takes them.
    std::vector<std::string> words() const;
};

// Adds `[-- COMMAND...]` to a command's usage, and its meaning and the grammar of rules below the options.
void show_forms(CLI::App& command, const std::string& meaning);

} // namespace cellgate::cli
