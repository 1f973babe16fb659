#pragma once
// `SpareKernels` is the one kernel that is kept ready for the next session, or the next restart of one: as that of the
// session that started last, started once nothing runs, used once. No code has run in it, and none of a workspace's
// kernels is one. It is a session's only if a start at that moment would make the same kernel in the same sandbox
// (start_state.hpp); otherwise it ends, and the session's kernel is started. It also ends when the machine's memory is
// short and when nothing used it for half an hour. Owned by the service; close() must have been awaited before
// destruction.

#include "base/sync.hpp"
#include "base/task.hpp"
#include "jupyter/kernel_choice.hpp"
#include "session/process_usage.hpp"
#include "session/session_options.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace cellgate::session {

struct KernelContext;
struct KernelInstance;

class SpareKernels {
  public:
    // `is_busy`: whether something runs or starts. `services` must outlive it.
    SpareKernels(SessionServices& services, std::function<bool()> is_busy);
    ~SpareKernels();

    // None is kept until it is enabled.
    void enable(bool enabled);
    // After a session's kernel has started with these options: the next spare one is like it.
    void kernel_started(const SessionOptions& options, const KernelInstance& instance);
    // The spare kernel, for the session of `context`; nullptr if there is none that would be the same.
    Task<std::unique_ptr<KernelInstance>> take(KernelContext context, jupyter::KernelChoice choice);
    // Nothing while none is ready.
    std::optional<KernelProcesses> processes() const;
    Task<void> close();

  private:
    struct Spare;
    using SparePtr = std::shared_ptr<Spare>;

    Task<void> keep_ready();
    Task<void> wait_quiet();
    Task<void> start(SparePtr spare);
    Task<void> watch(SparePtr spare);
    // Why it should not be kept any longer.
    Task<std::optional<std::string>> reason_to_end(SparePtr spare, Instant unused_until);
    void drop(const std::string& reason);
    void end_soon(SparePtr spare);
    Task<void> end(SparePtr spare);
    Task<bool> is_memory_short();

    SessionServices& services_;
    std::function<bool()> is_busy_;
    bool enabled_ = false;
    std::optional<SessionOptions> wanted_; // of the one to start
    SparePtr spare_;                       // that is ready
    Condition changed_;
    TaskScope tasks_;
    TaskScope ending_;
};

} // namespace cellgate::session
