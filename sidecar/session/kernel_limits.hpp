#pragma once
// `KernelLimits` is the judge of a kernel's end: it recognises a kernel that the system ended because a limit was
// exceeded. A SIGKILL that cellgate did not send counts as a lack of memory if the number of such kills has risen since
// inspect(). Kills are counted in the kernel's control group; for a kernel without one (nullptr), on the whole machine.

#include "jupyter/kernel.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/sessions.hpp"
#include "sandbox/control_group.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace cellgate::session {

struct LimitExceeded {
    protocol::ExecutionStatus status = protocol::ExecutionStatus::killed;
    std::string reason;
};

class KernelLimits {
  public:
    KernelLimits(const protocol::Limits& limits, Clock& clock, const std::string& vmstat)
        : limits_(limits), clock_(clock), vmstat_(vmstat) {}

    // A new kernel was started: records the number of kills; the next inspect() takes place whenever it comes.
    void restart(const sandbox::ControlGroup* group);
    // Before an execution: records the number of kills, unless it was recorded just before.
    void inspect(const sandbox::ControlGroup* group);
    std::optional<LimitExceeded> exceeded(const sandbox::ControlGroup* group,
                                          const jupyter::KernelExit& kernel_exit) const;

  private:
    std::uint64_t kills(const sandbox::ControlGroup* group) const;

    const protocol::Limits& limits_;
    Clock& clock_;
    const std::string& vmstat_;
    std::optional<Instant> inspected_at_;
    std::uint64_t kills_ = 0; // then
};

} // namespace cellgate::session
