#include "resources.hpp"

#include "base/json_codec.hpp"
#include "protocol/messages/changes.hpp"
#include "protocol/messages/kernels.hpp"
#include "protocol/messages/sessions.hpp"

#include <optional>
#include <string>
#include <utility>

namespace cellgate::agent {

namespace {

using CallPtr = std::shared_ptr<mcp::ToolCall>;

struct SessionVariables {
    std::string session;
    std::vector<protocol::KernelVariable> variables;
    std::optional<std::string> problem; // why there are none
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("session", self.session);
        visit("variables", self.variables);
        visit("problem", self.problem);
    }
};

struct ExecutionChanges {
    std::string execution_id;
    std::vector<protocol::ChangedFile> files;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("execution_id", self.execution_id);
        visit("files", self.files);
    }
};

struct WaitingExecution {
    std::string execution_id;
    std::int64_t pending_approvals = 0;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("execution_id", self.execution_id);
        visit("pending_approvals", self.pending_approvals);
    }
};

// A session that a user closed meanwhile, and a kernel that does not tell, are said and hide no other.
Task<SessionVariables> variables_of(SidecarClient* sidecar, std::string session, CallPtr call) {
    SessionVariables found;
    found.session = session;
    try {
        protocol::KernelVariablesParams params;
        params.session_id = std::move(session);
        protocol::KernelVariablesResult told =
            co_await sidecar->call<protocol::KernelVariables>(std::move(params), std::move(call));
        found.variables = std::move(told.variables);
    } catch (const protocol::RemoteError& error) {
        found.problem = error.message;
    }
    co_return found;
}

Task<RawJson> variables(SidecarClient* sidecar, CallPtr call) {
    std::vector<SessionVariables> all;
    const Empty nothing;
    const protocol::SessionListResult sessions = co_await sidecar->call<protocol::SessionList>(nothing, call);
    for (const protocol::SessionInfo& session : sessions.sessions) {
        if (sidecar->owns(session.session_id)) {
            SessionVariables found = co_await variables_of(sidecar, session.session_id, call);
            all.push_back(std::move(found));
        }
    }
    co_return to_raw_json(all);
}

// None of one that was refused, which the sidecar does not know.
Task<std::vector<protocol::ChangedFile>> files_changed_by(SidecarClient* sidecar, std::string execution, CallPtr call) {
    try {
        protocol::ChangesParams params;
        params.execution_id = std::move(execution);
        protocol::ChangesListResult found =
            co_await sidecar->call<protocol::ChangesList>(std::move(params), std::move(call));
        co_return std::move(found.files);
    } catch (const protocol::RemoteError&) {
        co_return std::vector<protocol::ChangedFile>{};
    }
}

// The latest first.
Task<RawJson> changes(SidecarClient* sidecar, CallPtr call) {
    std::vector<ExecutionChanges> all;
    const std::vector<std::string> executions = sidecar->ended_executions();
    for (const std::string& execution : executions) {
        std::vector<protocol::ChangedFile> files = co_await files_changed_by(sidecar, execution, call);
        if (!files.empty()) {
            all.push_back({execution, std::move(files)});
        }
    }
    co_return to_raw_json(all);
}

Task<RawJson> approvals(SidecarClient* sidecar, CallPtr call) {
    std::vector<WaitingExecution> all;
    const std::vector<std::string> executions = sidecar->running_executions();
    for (const std::string& execution : executions) {
        protocol::ExecutionParams params;
        params.execution_id = execution;
        const protocol::ExecutionInfo info = co_await sidecar->call<protocol::ExecutionGet>(std::move(params), call);
        if (info.pending_approvals) {
            all.push_back({execution, *info.pending_approvals});
        }
    }
    co_return to_raw_json(all);
}

} // namespace

std::vector<mcp::Resource> agent_resources(SidecarClient& sidecar) {
    SidecarClient* const client = &sidecar;
    return {
        {"variables", "Variables", "The variables of this agent's sessions: names, types, sizes and short values.",
         [client](CallPtr call) { return variables(client, std::move(call)); }},
        {"changes", "Changed files", "Which files of the workspace this agent's latest executions changed.",
         [client](CallPtr call) { return changes(client, std::move(call)); }},
        {"approvals", "Pending approvals",
         "Which of this agent's executions wait for a user, and for how many answers.",
         [client](CallPtr call) { return approvals(client, std::move(call)); }},
    };
}

} // namespace cellgate::agent
