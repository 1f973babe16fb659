#pragma once
// `ExecuteParams` and `ExecuteResult` are the messages about executions: the code, its output, its result.

#include "base/json_codec.hpp"
#include "protocol/messages/policy.hpp"
#include "protocol/messages/sandbox.hpp"
#include "protocol/peer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cellgate::protocol {

enum class ExecutionStatus { ok, error, timeout, cancelled, killed, oom };
inline constexpr EnumNames<ExecutionStatus, 6> enum_names(ExecutionStatus) {
    return {{{ExecutionStatus::ok, "ok"},
             {ExecutionStatus::error, "error"},
             {ExecutionStatus::timeout, "timeout"},
             {ExecutionStatus::cancelled, "cancelled"},
             {ExecutionStatus::killed, "killed"},
             {ExecutionStatus::oom, "oom"}}};
}

enum class ExecutionState { queued, running, finished };
inline constexpr EnumNames<ExecutionState, 3> enum_names(ExecutionState) {
    return {{{ExecutionState::queued, "queued"},
             {ExecutionState::running, "running"},
             {ExecutionState::finished, "finished"}}};
}

enum class ApprovalMode { ask, deny, allow };
inline constexpr EnumNames<ApprovalMode, 3> enum_names(ApprovalMode) {
    return {{{ApprovalMode::ask, "ask"}, {ApprovalMode::deny, "deny"}, {ApprovalMode::allow, "allow"}}};
}

// Where the code is in the editor; lines count from 0.
struct CellPosition {
    std::string uri;
    std::int64_t line = 0;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("uri", self.uri);
        visit("line", self.line);
    }
};

struct ExecuteParams {
    std::optional<std::string> execution_id;
    std::optional<std::string> session_id;
    std::string code;
    std::optional<CellPosition> cell;
    std::optional<double> timeout_seconds;
    std::optional<ApprovalMode> approvals;
    std::optional<std::vector<std::string>> allowed_domains; // HostPatterns (base/host.hpp)
    std::optional<bool> silent;
    std::optional<bool> store_history;
    std::optional<bool> stop_on_error;
    std::optional<RawJson> work_done_token;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("executionId", self.execution_id);
        visit("sessionId", self.session_id);
        visit("code", self.code);
        visit("cell", self.cell);
        visit("timeoutSeconds", self.timeout_seconds);
        visit("approvals", self.approvals);
        visit("allowedDomains", self.allowed_domains);
        visit("silent", self.silent);
        visit("storeHistory", self.store_history);
        visit("stopOnError", self.stop_on_error);
        visit("workDoneToken", self.work_done_token);
    }
};

struct ExecutionFrame {
    std::optional<std::string> uri;
    std::int64_t line = 0;
    std::string function;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("uri", self.uri);
        visit("line", self.line);
        visit("function", self.function);
    }
};

struct ExecutionError {
    std::string ename;
    std::string evalue;
    std::vector<std::string> traceback;
    std::vector<ExecutionFrame> frames;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("ename", self.ename);
        visit("evalue", self.evalue);
        visit("traceback", self.traceback);
        visit("frames", self.frames);
    }
};

// What was refused to an execution, by what, and what would allow it.
struct Note {
    std::string text;
    std::string remedy;
    std::optional<RuleSpec> rule; // that would allow it
    std::optional<SandboxAdditions> sandbox;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("text", self.text);
        visit("remedy", self.remedy);
        visit("rule", self.rule);
        visit("sandbox", self.sandbox);
    }
};

struct ExecuteResult {
    std::string execution_id;
    ExecutionStatus status = ExecutionStatus::ok;
    std::optional<std::string> reason;
    Nullable<std::int64_t> execution_count;
    std::optional<ExecutionError> error;
    std::uint64_t output_bytes = 0;
    bool truncated = false;
    std::optional<std::string> output_problem;
    double duration_seconds = 0;
    double waited_seconds = 0;
    std::vector<std::string> layers;
    std::optional<std::vector<Note>> notes;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("executionId", self.execution_id);
        visit("status", self.status);
        visit("reason", self.reason);
        visit("executionCount", self.execution_count);
        visit("error", self.error);
        visit("outputBytes", self.output_bytes);
        visit("truncated", self.truncated);
        visit("outputProblem", self.output_problem);
        visit("durationSeconds", self.duration_seconds);
        visit("waitedSeconds", self.waited_seconds);
        visit("layers", self.layers);
        visit("notes", self.notes);
    }
};

struct ExecuteChangedParams {
    std::string execution_id;
    ExecutionState state = ExecutionState::queued;
    std::optional<std::int64_t> position;
    std::optional<std::string> session_id; // of an agent's
    std::optional<std::string> agent;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("executionId", self.execution_id);
        visit("state", self.state);
        visit("position", self.position);
        visit("sessionId", self.session_id);
        visit("agent", self.agent);
    }
};

// Display data kept in a file instead of in the message.
struct LargeDatum {
    std::string mime;
    std::uint64_t bytes = 0;
    std::string path;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("mime", self.mime);
        visit("bytes", self.bytes);
        visit("path", self.path);
    }
};

// One record of an execution's journal, or several joined: an nbformat output, or how much was skipped.
struct OutputRecord {
    std::int64_t seq = 0;
    std::int64_t count = 1;
    std::optional<RawJson> output;
    std::optional<std::vector<LargeDatum>> files;
    std::optional<std::uint64_t> skipped_bytes;
    std::optional<bool> late;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("seq", self.seq);
        visit("count", self.count);
        visit("output", self.output);
        visit("files", self.files);
        visit("skippedBytes", self.skipped_bytes);
        visit("late", self.late);
    }
};

struct ExecuteOutputParams {
    std::string execution_id;
    std::int64_t seq = 0;
    std::int64_t count = 1;
    std::optional<RawJson> output;
    std::optional<std::vector<LargeDatum>> files;
    std::optional<std::uint64_t> skipped_bytes;
    std::optional<bool> late;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("executionId", self.execution_id);
        visit("seq", self.seq);
        visit("count", self.count);
        visit("output", self.output);
        visit("files", self.files);
        visit("skippedBytes", self.skipped_bytes);
        visit("late", self.late);
    }
};

struct ExecuteCancelParams {
    std::string execution_id;
    std::optional<double> grace_seconds;
    std::optional<bool> force;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("executionId", self.execution_id);
        visit("graceSeconds", self.grace_seconds);
        visit("force", self.force);
    }
};

struct ExecuteCancelResult {
    bool kernel_busy = false;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("kernelBusy", self.kernel_busy);
    }
};

struct ExecutionParams {
    std::string execution_id;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("executionId", self.execution_id);
    }
};

struct ExecutionInfo {
    std::string execution_id;
    std::string session_id;
    ExecutionState state = ExecutionState::queued;
    std::optional<std::int64_t> position;
    std::optional<std::string> code;
    std::optional<std::string> agent; // whose it is
    std::optional<ExecuteResult> result;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("executionId", self.execution_id);
        visit("sessionId", self.session_id);
        visit("state", self.state);
        visit("position", self.position);
        visit("code", self.code);
        visit("agent", self.agent);
        visit("result", self.result);
    }
};

struct OutputReadParams {
    std::string execution_id;
    std::optional<std::int64_t> from_seq;
    std::optional<std::uint64_t> max_bytes;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("executionId", self.execution_id);
        visit("fromSeq", self.from_seq);
        visit("maxBytes", self.max_bytes);
    }
};

struct OutputReadResult {
    std::vector<OutputRecord> records;
    std::int64_t next_seq = 0;
    bool complete = false;
    std::uint64_t dropped_bytes = 0;
    std::optional<std::string> problem;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("records", self.records);
        visit("nextSeq", self.next_seq);
        visit("complete", self.complete);
        visit("droppedBytes", self.dropped_bytes);
        visit("problem", self.problem);
    }
};

struct InputRequestParams {
    std::string execution_id;
    std::string prompt;
    bool password = false;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("executionId", self.execution_id);
        visit("prompt", self.prompt);
        visit("password", self.password);
    }
};

struct InputRequestResult {
    std::string value;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("value", self.value);
    }
};

struct Execute : Request<ExecuteParams, ExecuteResult> {
    static constexpr std::string_view name = "execute";
};
struct ExecuteChanged : Notification<ExecuteChangedParams> {
    static constexpr std::string_view name = "execute/changed";
};
struct ExecuteOutput : Notification<ExecuteOutputParams> {
    static constexpr std::string_view name = "execute/output";
};
struct ExecuteCancel : Request<ExecuteCancelParams, ExecuteCancelResult> {
    static constexpr std::string_view name = "execute/cancel";
};
struct ExecutionGet : Request<ExecutionParams, ExecutionInfo> {
    static constexpr std::string_view name = "execution/get";
};
struct OutputRead : Request<OutputReadParams, OutputReadResult> {
    static constexpr std::string_view name = "output/read";
};
struct InputRequest : Request<InputRequestParams, InputRequestResult> {
    static constexpr std::string_view name = "input/request";
};

} // namespace cellgate::protocol
