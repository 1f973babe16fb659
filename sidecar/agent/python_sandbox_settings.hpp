#pragma once
// `PythonSandboxSettings` is what a user configures for `cellgate mcp --as python-sandbox`, by the variables that
// Python Sandbox Server reads. None of them raises a limit of the sidecar or opens a host.

#include "base/environment.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::agent {

// Modules that Python Sandbox Server offers together.
struct ModuleGroup {
    std::string_view name;     // as get_sandbox_info names it
    std::string_view variable; // that offers it; empty: it always is
    std::vector<std::string> modules;
    // Whether one of them is `module`, or above it.
    bool has(std::string_view module) const;
};

const std::vector<ModuleGroup>& module_groups();

struct PythonSandboxSettings {
    double default_timeout = 30;                            // seconds; SANDBOX_DEFAULT_TIMEOUT, or SANDBOX_TIMEOUT
    double max_timeout = 300;                               // seconds; SANDBOX_MAX_TIMEOUT
    std::size_t max_output_size = std::size_t{1} << 20;     // characters of a stream; SANDBOX_MAX_OUTPUT_SIZE
    std::optional<std::uint64_t> memory_bytes;              // SANDBOX_DEFAULT_MEMORY_LIMIT
    std::vector<std::string> groups;                        // names of those that are offered; SANDBOX_ENABLE_*
    std::optional<std::vector<std::string>> custom_modules; // in place of the groups; SANDBOX_ALLOWED_IMPORTS

    std::vector<std::string> modules() const;
    bool offers(const ModuleGroup& group) const;

    // Of an execution. Throws Error{limit_exceeded} above the maximum.
    double timeout_of(std::optional<double> asked) const;
};

// Throws Error{config_invalid} for a value that cannot be read, for an unknown variable SANDBOX_*, and for a container.
PythonSandboxSettings read_python_sandbox_settings(const Environment& environment);

} // namespace cellgate::agent
