#pragma once
// The arguments of every command that runs a sidecar of its own.

#include "service/sidecar.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace cellgate::cli {

struct SidecarArguments {
    std::string root = ".";
    std::vector<std::string> allow;
    std::string mcp_config;
    std::string trace;

    void add_to(CLI::App& command);
    // Throws Error{rule_invalid, config_invalid}.
    service::SidecarOptions options() const;
};

} // namespace cellgate::cli
