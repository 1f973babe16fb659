#pragma once
// `run_code` runs code for an agent and tells its client the latest line of output meanwhile;
// `advice_of` is the advice of a note to an agent.

#include "sidecar_client.hpp"

#include <memory>
#include <string>

namespace cellgate::agent {

// Throws what `execute` does. `params.execution_id`: a new one, unless it is set. `usual_seconds`: the time limit where
// `params` has none; what a user allows agents instead, where that is less. `id`, if it is not nullptr, is set to the
// id of the execution before it begins; it must outlive the call.
Task<protocol::ExecuteResult> run_code(SidecarClient* sidecar, protocol::ExecuteParams params, double usual_seconds,
                                       std::shared_ptr<mcp::ToolCall> call, std::string* id = nullptr);

// What can be done about it, and by whom.
std::string advice_of(const protocol::Note& note);

} // namespace cellgate::agent
