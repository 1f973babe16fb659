#pragma once
// `result_of` makes the result of an execution; `describe` makes its error, with frames that name cells and files.

#include "jupyter/kernel_client.hpp"
#include "session/execution_queue.hpp"

namespace cellgate::session {

// `layers`: of the sandbox in which it ran.
protocol::ExecuteResult result_of(const Execution& execution, protocol::ExecutionStatus status,
                                  std::optional<std::string> reason, const std::vector<std::string>& layers);

// For a kernel's reply. The reason why the execution was stopped decides about the status.
protocol::ExecuteResult result_of(const Execution& execution, const jupyter::ExecuteReply& reply,
                                  const ExecutionQueue& executions, const std::vector<std::string>& layers);

protocol::ExecutionError describe(const jupyter::KernelError& error, const ExecutionQueue& executions);

} // namespace cellgate::session
