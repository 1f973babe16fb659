#pragma once
// `SandboxmcpSettings` is what a user configures for `cellgate mcp --as sandboxmcp`, by the variables that sandboxmcp
// reads. None of them raises a limit of the sidecar, opens a host or names a secret.

#include "base/environment.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace cellgate::agent {

struct SandboxmcpSettings {
    double timeout_seconds = 60;               // of an execution that names none; SANDBOXMCP_TIMEOUT
    std::size_t max_concurrent = 4;            // executions at a time; SANDBOXMCP_MAX_CONCURRENT
    std::optional<std::uint64_t> memory_bytes; // of each session; SANDBOXMCP_MAX_RAM_MB
};

// Throws Error{config_invalid} for a value that cannot be read, for what cellgate does another way (the error says
// which), and for an unknown variable SANDBOXMCP_*.
SandboxmcpSettings read_sandboxmcp_settings(const Environment& environment);

} // namespace cellgate::agent
