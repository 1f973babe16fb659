#pragma once
// `ExecutionRun` is one execution while its kernel runs it: it sends the code, enforces the timeout, answers prompts,
// and makes the result, with the notes of what the sandbox refused. It also ends a kernel that does not stop, and says
// so to the session. Owned by the session; run() must have been awaited before it is destroyed.

#include "kernel_instance.hpp"
#include "kernel_limits.hpp"
#include "session/failures.hpp"

#include <functional>

namespace cellgate::session {

// The parts of a session that a run uses. All outlive it.
struct RunContext {
    SessionServices& services;
    const SessionOptions& options;
    const ExecutionQueue& executions;
    const KernelLimits& limits;
    LatestKernel& latest; // its execution_count is written
    jupyter::KernelListener& listener;
    TaskScope& tasks; // of the session
    std::function<void(const std::string& reason)> on_kernel_lost;
    std::function<void()> flush_output; // of the running execution: what is held back
};

class ExecutionRun {
  public:
    ExecutionRun(RunContext context, std::shared_ptr<Execution> execution, std::shared_ptr<KernelInstance> instance)
        : context_(std::move(context)), execution_(std::move(execution)), instance_(std::move(instance)) {}

    // The result, without what only the end of the execution shows: output sizes, times, notes. If it is cancelled, the
    // kernel is ended, as the session is being closed.
    Task<protocol::ExecuteResult> run();
    // The code, and its tool calls. A kernel that this may leave without an answer is ended when it gives none.
    void interrupt();
    // Returns whether the execution finished within `grace`.
    Task<bool> interrupt_and_wait(Duration grace);
    // Ends its kernel, and so the execution.
    Task<void> end_kernel();

    void add_printed(const RawJson& body) { last_printed_.add(body); }
    void on_input_request(jupyter::InputRequest request);

  private:
    void begin();
    Task<protocol::ExecuteResult> execute();
    Task<void> deliver_wrappers();
    Task<void> enforce_timeout(Duration limit);
    Task<void> end_kernel_unless_interrupted();
    Task<void> answer_input(jupyter::InputRequest request);
    // The kernel exits by itself; anything sent to it before the exit would be lost. Returns the reason for the result.
    Task<std::string> end_by_exit();
    // The result of an execution whose kernel died, or must be ended.
    Task<protocol::ExecuteResult> end_with_kernel(std::string failure);
    // Part of the execution, so that it can be interrupted, and its kernel be ended, as the code itself.
    Task<void> restore_cwd();
    Task<void> send_chdir();
    Task<void> add_notes(std::optional<protocol::ExecutionError> error);
    Task<void> add_missing_note(MissingModule missing);
    Task<void> add_path_notes(std::vector<FailedPath> paths);

    RunContext context_;
    std::shared_ptr<Execution> execution_;
    std::shared_ptr<KernelInstance> instance_;
    LastPrinted last_printed_;
    bool takes_input_ = false;
    bool takes_helpers_ = true; // until they are joined
    bool watches_interrupt_ = false;
    std::shared_ptr<CancelState> prompt_; // of the latest input request
    TaskScope helpers_;                   // joined before the result is given
};

} // namespace cellgate::session
