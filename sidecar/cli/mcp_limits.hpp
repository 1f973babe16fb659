#pragma once
// What the person who configured an agent's program set in its environment, by the names that Python Sandbox Server
// has. It bounds this server alone; what the sidecar lets an agent have at most, nothing in here widens.

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace cellgate::cli {

struct McpLimits {
    std::optional<double> default_timeout; // seconds; SANDBOX_DEFAULT_TIMEOUT, or SANDBOX_TIMEOUT
    std::optional<double> most_timeout;    // seconds; SANDBOX_MAX_TIMEOUT
    std::size_t most_characters = 0;       // of an output in a result; SANDBOX_MAX_OUTPUT_SIZE

    // The timeout of an execution that named `asked`; `otherwise` when neither it nor the person named one. Throws
    // Error{limit_exceeded} for one beyond the person's.
    double timeout_of(std::optional<double> asked, double otherwise) const;
};

// Throws Error{config_invalid} for a value that is no number above 0.
McpLimits read_mcp_limits(const std::map<std::string, std::string>& environment);

} // namespace cellgate::cli
