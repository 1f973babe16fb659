#pragma once
// `AgentLimits` is the default and the maximum of the limits of an agent's sessions and executions, and the settings of
// the sandbox of its sessions. `AgentSettings` is what a user sets of them in the file `agents.json` of cellgate's
// configuration directory, which no cell can see.

#include "base/environment.hpp"
#include "protocol/messages/sessions.hpp"
#include "sandbox/settings.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace cellgate::service {

struct AgentLimits {
    double timeout_seconds = 300;                              // of an execution
    std::uint64_t memory_bytes = 0;                            // of a session of the agent's own
    std::uint64_t cpu_seconds = 3600;                          // of each process of such a session
    std::shared_ptr<const sandbox::Settings> sandbox_settings; // nullptr: those of all sessions

    // Memory: 8 GiB, or a user's default if that is lower.
    AgentLimits();

    // `asked` of a session, with the defaults for missing fields. Throws Error{limit_exceeded} if a field exceeds the
    // maximum.
    protocol::Limits limits_of(protocol::Limits asked) const;
    // The same for the timeout of an execution; `name`: of the parameter, for the error; `of_session`: the limit that a
    // user gave to each execution of the session.
    double timeout_of(const char* name, std::optional<double> asked, std::optional<double> of_session) const;
};

// Throws Error{limit_exceeded} unless each limit that `change` names is at most the present one.
void require_lower(const protocol::Limits& change, const protocol::Limits& present);

struct AgentSettings {
    std::size_t executions; // of all agents in the workspace at a time
    AgentLimits limits;
    std::map<std::string, AgentLimits> named; // of those that have their own, by the agent's name

    // Executions: half as many as there are processors, and at least two.
    AgentSettings();
    const AgentLimits& limits_of(const std::optional<std::string>& agent) const;
};

// A missing file means the defaults. Throws Error{config_invalid} unless the file is {"timeoutSeconds": …,
// "memoryBytes": …, "cpuSeconds": …, "sandboxConfig": "/…" or "~/…", "executions": …, "agents": {NAME: {…}}}, each
// field optional, and the settings can be read. What is set for all is the default of `agents`, which have the first
// four.
AgentSettings read_agent_settings(const std::string& path, const Environment& environment);

} // namespace cellgate::service
