#include "execution_results.hpp"

#include "base/encoding.hpp"

#include <fmt/format.h>

namespace cellgate::session {

namespace {

protocol::ExecutionStatus status_of(jupyter::ExecuteStatus status) {
    switch (status) {
    case jupyter::ExecuteStatus::error:
        return protocol::ExecutionStatus::error;
    case jupyter::ExecuteStatus::aborted:
        return protocol::ExecutionStatus::cancelled;
    case jupyter::ExecuteStatus::ok:
        break;
    }
    return protocol::ExecutionStatus::ok;
}

} // namespace

protocol::ExecuteResult result_of(const Execution& execution, protocol::ExecutionStatus status,
                                  std::optional<std::string> reason, const std::vector<std::string>& layers) {
    protocol::ExecuteResult result;
    result.execution_id = execution.id;
    result.status = status;
    result.reason = std::move(reason);
    result.layers = layers;
    return result;
}

protocol::ExecuteResult result_of(const Execution& execution, const jupyter::ExecuteReply& reply,
                                  const ExecutionQueue& executions, const std::vector<std::string>& layers) {
    protocol::ExecuteResult result = result_of(execution, status_of(reply.status), std::nullopt, layers);
    if (!execution.params.silent.value_or(false)) {
        result.execution_count.value = reply.execution_count;
    }
    if (reply.error) {
        result.error = describe(*reply.error, executions);
    }
    if (execution.stop == StopReason::timeout) {
        result.status = protocol::ExecutionStatus::timeout;
        result.reason = fmt::format("interrupted after {:.2f}s (time in which it waited for a user does not count)",
                                    *execution.params.timeout_seconds);
    } else if (execution.stop == StopReason::cancelled) {
        result.status = protocol::ExecutionStatus::cancelled;
    }
    return result;
}

protocol::ExecutionError describe(const jupyter::KernelError& error, const ExecutionQueue& executions) {
    protocol::ExecutionError described{error.ename, error.evalue, error.traceback, {}};
    for (const jupyter::Frame& frame : error.frames) {
        protocol::ExecutionFrame place{std::nullopt, frame.line, frame.function};
        if (frame.execution) {
            const std::shared_ptr<Execution> execution = executions.find(*frame.execution);
            if (execution && execution->params.cell) {
                place.uri = execution->params.cell->uri;
                place.line += execution->params.cell->line;
            }
        } else if (frame.path) {
            place.uri = file_uri(*frame.path);
        }
        described.frames.push_back(std::move(place));
    }
    return described;
}

} // namespace cellgate::session
