#pragma once
// `UserLimits` is the set of limits that a user sets in the environment of `cellgate mcp`, under the names that Python
// Sandbox Server uses. They bound this server alone and cannot raise the sidecar's limits for agents.

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace cellgate::agent {

struct UserLimits {
    std::optional<double> default_timeout; // seconds; SANDBOX_DEFAULT_TIMEOUT, or SANDBOX_TIMEOUT
    std::optional<double> max_timeout;     // seconds; SANDBOX_MAX_TIMEOUT
    std::size_t max_characters = 0;        // of an output in a result; SANDBOX_MAX_OUTPUT_SIZE

    // The timeout of an execution: `asked`, else the user's default, else `otherwise`. Throws Error{limit_exceeded}
    // above the user's maximum.
    double timeout_of(std::optional<double> asked, double otherwise) const;
};

// Throws Error{config_invalid} for a value that is not a number above 0.
UserLimits read_user_limits(const std::map<std::string, std::string>& environment);

} // namespace cellgate::agent
