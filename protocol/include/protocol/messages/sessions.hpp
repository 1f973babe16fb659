#pragma once
// `SessionInfo` is the state of a session: one kernel with its sandbox, limits, tool servers and queue. The others are
// the messages that create, change and end sessions.

#include "base/json_codec.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/sandbox.hpp"
#include "protocol/peer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::protocol {

enum class SessionStatus { starting, idle, busy, restarting, dead };
inline constexpr EnumNames<SessionStatus, 5> enum_names(SessionStatus) {
    return {{{SessionStatus::starting, "starting"},
             {SessionStatus::idle, "idle"},
             {SessionStatus::busy, "busy"},
             {SessionStatus::restarting, "restarting"},
             {SessionStatus::dead, "dead"}}};
}

// A kernelspec by name, or an interpreter by path: one of them.
struct KernelChoice {
    std::optional<std::string> name;
    std::optional<std::string> interpreter;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("interpreter", self.interpreter);
    }
};

struct Limits {
    std::optional<std::int64_t> memory_bytes;
    std::optional<std::int64_t> process_count;
    std::optional<double> cpu_cores;
    std::optional<double> cpu_seconds;
    std::optional<std::int64_t> open_files;
    std::optional<std::int64_t> file_size_bytes;
    std::optional<std::int64_t> disk_bytes;
    std::optional<double> wall_seconds;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("memoryBytes", self.memory_bytes);
        visit("processCount", self.process_count);
        visit("cpuCores", self.cpu_cores);
        visit("cpuSeconds", self.cpu_seconds);
        visit("openFiles", self.open_files);
        visit("fileSizeBytes", self.file_size_bytes);
        visit("diskBytes", self.disk_bytes);
        visit("wallSeconds", self.wall_seconds);
    }
};

struct SessionCreateParams {
    std::optional<std::string> session_id;
    std::optional<std::string> language;
    std::optional<KernelChoice> kernel;
    std::optional<std::string> cwd;
    std::optional<bool> restore_cwd;
    std::optional<std::map<std::string, std::string>> env;
    std::optional<SandboxChoice> sandbox;
    std::optional<RawJson> limits; // Limits, of which an unknown one is refused
    std::optional<std::vector<std::string>> tool_servers;
    std::optional<RawJson> work_done_token;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("sessionId", self.session_id);
        visit("language", self.language);
        visit("kernel", self.kernel);
        visit("cwd", self.cwd);
        visit("restoreCwd", self.restore_cwd);
        visit("env", self.env);
        visit("sandbox", self.sandbox);
        visit("limits", self.limits);
        visit("toolServers", self.tool_servers);
        visit("workDoneToken", self.work_done_token);
    }
};

struct SessionKernel {
    std::string name;
    std::optional<std::string> interpreter;
    std::string language;
    std::optional<std::string> version;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("name", self.name);
        visit("interpreter", self.interpreter);
        visit("language", self.language);
        visit("version", self.version);
    }
};

struct SessionInfo {
    std::string session_id;
    SessionStatus status = SessionStatus::starting;
    SessionKernel kernel;
    std::string cwd;
    SandboxKind sandbox = SandboxKind::bwrap;
    std::vector<std::string> layers;
    std::optional<std::string> sandbox_config; // the settings file
    std::optional<SandboxAdditions> sandbox_additions;
    std::optional<std::vector<std::string>> sandbox_notices;
    std::int64_t execution_count = 0;
    std::int64_t queue_length = 0;
    std::string created_at;
    std::optional<std::string> agent; // whose session it is, as it calls itself
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("sessionId", self.session_id);
        visit("status", self.status);
        visit("kernel", self.kernel);
        visit("cwd", self.cwd);
        visit("sandbox", self.sandbox);
        visit("layers", self.layers);
        visit("sandboxConfig", self.sandbox_config);
        visit("sandboxAdditions", self.sandbox_additions);
        visit("sandboxNotices", self.sandbox_notices);
        visit("executionCount", self.execution_count);
        visit("queueLength", self.queue_length);
        visit("createdAt", self.created_at);
        visit("agent", self.agent);
    }
};

struct SessionListResult {
    std::vector<SessionInfo> sessions;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("sessions", self.sessions);
    }
};

struct SessionParams {
    std::string session_id;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("sessionId", self.session_id);
    }
};

// What output/read has and what is notified divide at next_seq.
struct AttachedExecution {
    std::string execution_id;
    ExecutionState state = ExecutionState::queued;
    std::optional<std::int64_t> position;
    std::int64_t next_seq = 0;
    std::optional<CellPosition> cell;
    std::optional<std::string> agent; // whose it is
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("executionId", self.execution_id);
        visit("state", self.state);
        visit("position", self.position);
        visit("nextSeq", self.next_seq);
        visit("cell", self.cell);
        visit("agent", self.agent);
    }
};

struct SessionAttachResult {
    SessionInfo session;
    std::vector<AttachedExecution> executions;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("session", self.session);
        visit("executions", self.executions);
    }
};

struct SessionRestartParams {
    std::string session_id;
    std::optional<SandboxAdditions> sandbox;
    std::optional<RawJson> work_done_token;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("sessionId", self.session_id);
        visit("sandbox", self.sandbox);
        visit("workDoneToken", self.work_done_token);
    }
};

struct SessionChangedParams {
    std::string session_id;
    SessionStatus status = SessionStatus::starting;
    std::optional<std::string> reason;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("sessionId", self.session_id);
        visit("status", self.status);
        visit("reason", self.reason);
    }
};

struct SessionCreate : Request<SessionCreateParams, SessionInfo> {
    static constexpr std::string_view name = "session/create";
};
struct SessionList : Request<Empty, SessionListResult> {
    static constexpr std::string_view name = "session/list";
};
struct SessionAttach : Request<SessionParams, SessionAttachResult> {
    static constexpr std::string_view name = "session/attach";
};
struct SessionRestart : Request<SessionRestartParams, SessionInfo> {
    static constexpr std::string_view name = "session/restart";
};
struct SessionInterrupt : Request<SessionParams, Empty> {
    static constexpr std::string_view name = "session/interrupt";
};
struct SessionClose : Request<SessionParams, Empty> {
    static constexpr std::string_view name = "session/close";
};
struct SessionChanged : Notification<SessionChangedParams> {
    static constexpr std::string_view name = "session/changed";
};

} // namespace cellgate::protocol
