#pragma once
// What an agent's sessions and executions have without being asked for, and what an agent can ask for at most. A person
// sets it in the file `agents.json` of cellgate's configuration directory, which no cell sees.

#include "sandbox/limits.hpp"

#include <optional>
#include <string>

namespace cellgate::service {

struct AgentLimits {
    double timeout_seconds = 300;     // of an execution
    std::uint64_t memory_bytes = 0;   // of a session of the agent's own
    std::uint64_t cpu_seconds = 3600; // of each process of such a session

    // At most 8 GiB of memory, and no more than holds of a person's.
    AgentLimits();

    // What an agent asked for, with these for what it left out. Throws Error{limit_exceeded} when it is more.
    sandbox::Limits limits_of(sandbox::Limits asked) const;
    // The same for an execution, whose parameter is called `name`; `of_session`: of a person's session, what the person
    // gave each execution in it.
    double timeout_of(const char* name, std::optional<double> asked, std::optional<double> of_session) const;
};

// A file that is not there changes nothing. Throws Error{config_invalid} for one that cannot be read as
// {"timeoutSeconds": …, "memoryBytes": …, "cpuSeconds": …}, each of them optional.
AgentLimits read_agent_limits(const std::string& path);

} // namespace cellgate::service
