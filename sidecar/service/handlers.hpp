#pragma once
// `SidecarServices` is what the handlers of the method families use, by reference. Each `add_…_handlers` registers one
// family of methods for a client; both outlive the client's requests.

#include "activity_record.hpp"
#include "agent_limits.hpp"
#include "client.hpp"
#include "crash_recovery.hpp"
#include "elicitations.hpp"
#include "idle_tracker.hpp"
#include "images/images.hpp"
#include "packages/installs.hpp"
#include "profiles.hpp"
#include "protocol/messages/secrets.hpp"
#include "result_review.hpp"
#include "secret_record.hpp"
#include "server_tokens.hpp"
#include "session/spare_kernels.hpp"
#include "session_checks.hpp"
#include "session_table.hpp"
#include "store/secrets.hpp"
#include "trusted_servers.hpp"
#include "workspace.hpp"
#include "workspace_changes.hpp"

namespace cellgate::service {

struct SidecarServices {
    async::Loop& loop;
    const Workspace& workspace;
    const AgentSettings& agents;
    const bool outlives_clients; // see SidecarOptions
    SessionTable& sessions;
    store::Journals& journals;
    CrashRecovery& crash_recovery;
    IdleTracker& idle_tracker;
    gate::Gate& gate;
    Elicitations& elicitations;
    tools::Registry& registry;
    TrustedServers& trusted_servers;
    packages::Installs& installs;
    images::Images& images;
    ActivityRecord& activity;
    WorkspaceChanges& changes;
    const Stats& stats;
    ResultReview& review;
    store::Secrets& secrets;
    KnownSecrets& known_secrets;
    SecretRecord& secret_record;
    SessionSecrets& session_secrets;
    ServerTokens& server_tokens;
    const Profiles& profiles;
    SessionChecks& checks;
    session::SpareKernels& spares;
};

// The agent's own execution, while its session is there. Throws Error{forbidden} unless it is one, and Error{denied} if
// it is not the agent's to see.
void require_own_execution(SidecarServices& sidecar, const Client& client, const std::string& execution_id);

// nullptr of a user, who has none.
inline const AgentLimits* limits_of_agent(const SidecarServices& sidecar, const Client& client) {
    return client.role == protocol::Role::user ? nullptr : &sidecar.agents.limits_of(gate::name_of(client.agent));
}

void add_lifecycle_handlers(SidecarServices& sidecar, Client& client);
void add_session_handlers(SidecarServices& sidecar, Client& client);
void add_kernel_handlers(SidecarServices& sidecar, Client& client);
void add_check_handlers(SidecarServices& sidecar, Client& client);
void add_execution_handlers(SidecarServices& sidecar, Client& client);
void add_gate_handlers(SidecarServices& sidecar, Client& client);
void add_tool_handlers(SidecarServices& sidecar, Client& client);
void add_package_handlers(SidecarServices& sidecar, Client& client);
void add_record_handlers(SidecarServices& sidecar, Client& client);
void add_change_handlers(SidecarServices& sidecar, Client& client);
void add_stats_handlers(SidecarServices& sidecar, Client& client);
void add_secret_handlers(SidecarServices& sidecar, Client& client);

} // namespace cellgate::service
