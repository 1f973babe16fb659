#pragma once
// `Execution` is one run of one piece of code: its request, its state, its output and its result. A Session owns it
// while it is queued and runs, and keeps it for a while afterwards. Only the Session changes it.

#include "base/task.hpp"
#include "gate/agent.hpp"
#include "protocol/messages/executions.hpp"
#include "session/execution_clock.hpp"
#include "session/execution_turns.hpp"
#include "session/masked_output.hpp"
#include "store/journal.hpp"
#include "store/journals.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace cellgate::session {

// A client's number in the sidecar.
using ClientId = std::uint64_t;

// Why an execution is being stopped; the first reason stays.
enum class StopReason { none, timeout, cancelled };

struct Execution : std::enable_shared_from_this<Execution> {
    Execution(std::string id_, protocol::ExecuteParams params_, ClientId client_, std::string session_id_,
              store::Journals& journals, Clock& clock_)
        : id(std::move(id_)), params(std::move(params_)), client(client_), session_id(std::move(session_id_)),
          journal(journals, {id, session_id}), clock(clock_) {}

    const std::string id;
    const protocol::ExecuteParams params;
    const ClientId client;
    const std::string session_id;
    std::optional<gate::Agent> agent;      // that sent it, if it was an agent
    std::optional<std::string> saved_tool; // whose run its session is

    protocol::ExecutionState state = protocol::ExecutionState::queued;
    StopReason stop = StopReason::none;
    MaskedOutput masked;
    store::Journal journal;
    ExecutionClock clock;
    std::unique_ptr<ExecutionTurns::Turn> turn;       // of an agent's: from when it is the next one to its end
    std::optional<std::vector<protocol::Note>> notes; // while it runs
    protocol::ExecuteResult result;                   // once finished
    Event finished;

    // How many come before it, when it waits for its turn.
    std::optional<std::int64_t> waits_behind() const {
        return turn && !turn->has_come() ? std::optional(turn->behind()) : std::nullopt;
    }
};

} // namespace cellgate::session
