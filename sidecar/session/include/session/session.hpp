#pragma once
// `Session` is one kernel in its sandbox with the queue of executions that it runs one after the other. A session
// outlives its kernel: when the kernel dies, the running execution gets a result that names the cause, queued ones are
// cancelled (the state that they relied on is gone), and a new kernel is started. A result of status killed is given
// once no process of that kernel runs any more. Owned by the service, which must await close() before destruction.

#include "base/sync.hpp"
#include "jupyter/kernel_client.hpp"
#include "sandbox/launcher.hpp"
#include "session/execution_queue.hpp"
#include "session/latest_kernel.hpp"
#include "session/process_usage.hpp"
#include "session/session_options.hpp"
#include "tools/channel.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::session {

struct KernelInstance;
class KernelAccess;
class KernelLimits;
class ExecutionRun;

struct VariableCopy {
    std::string type; // as its language names it
    RawJson value;
    std::optional<std::string> wide; // names a whole number in it that a double does not hold
};

class Session final : public jupyter::KernelListener, public tools::CallerIdentity {
  public:
    Session(SessionServices& services, SessionOptions options);
    ~Session() override;

    const std::string& id() const { return options_.id; }
    bool belongs_to(ClientId agent) const { return options_.agent && options_.agent->client == agent; }
    protocol::SessionInfo info() const;
    // Of the latest kernel; nothing if it does not run Python.
    const std::optional<packages::Python>& python() const { return latest_.python; }

    // Starts the kernel. Throws Error{kernel_not_found, kernel_start_failed, sandbox_unavailable, denied}.
    Task<void> start();
    // As it was created, or last restarted.
    const SessionOptions& options() const { return options_; }
    // Ends the kernel, cancels the queue, and starts a new kernel with `change` for its sandbox.
    // Throws Error{unsupported} for a kernel that it did not start, Error{busy} during another restart and
    // Error{config_invalid} for paths that cannot be shown: then nothing changed. Also throws what start() throws: then
    // the session is dead until it is restarted.
    Task<void> restart(SandboxChange change);
    // Changes the limits that are named. Returns those of them that hold after a restart; the others hold at once, of
    // executions those that are sent from now on. Throws Error{sandbox_unavailable}, and none changed, where the system
    // could not enforce them.
    Task<std::vector<protocol::LimitName>> set_limits(protocol::Limits change);
    // Interrupts the running execution; queued ones stay.
    void interrupt();
    // Ends the kernel; all unfinished executions end as killed or cancelled, with `reason`. A start() in progress must
    // be cancelled and awaited first.
    Task<void> close(std::string reason);

    // An executionId is generated if the params have none. Throws Error{execution_exists, busy},
    // Error{session_not_found} if the session is being closed, and Error{kernel_start_failed} if it is dead.
    std::shared_ptr<Execution> enqueue(protocol::ExecuteParams params, ClientId client,
                                       std::optional<gate::Agent> agent = std::nullopt);
    // nullptr if this session has none with that id.
    std::shared_ptr<Execution> find(const std::string& execution_id) const { return queue_.find(execution_id); }
    // Finished ones that are still kept, the running one, the queue; in this order.
    std::vector<std::shared_ptr<Execution>> executions() const { return queue_.all(); }
    bool is_running() const { return queue_.running() != nullptr; }
    // Nothing while no kernel runs.
    std::optional<KernelProcesses> kernel_processes() const;
    // Whether the running execution is `client`'s.
    bool runs_for(ClientId client) const { return queue_.running() && queue_.running()->client == client; }
    // The number of executions before it, with the running one; nothing unless it is queued.
    std::optional<std::int64_t> position(const Execution& execution) const { return queue_.position(execution); }
    // Removes a queued execution, interrupts a running one. True if it still runs after `grace` without `force`; with
    // `force` the kernel is then restarted.
    Task<bool> cancel(std::shared_ptr<Execution> execution, Duration grace, bool force);
    // Sends the query only while nothing runs or is queued, so that a user never waits for a cell. Throws Error{busy}
    // otherwise and on a timeout; Error{kernel_died, kernel_start_failed}.
    Task<std::string> ask(jupyter::KernelQuery query);
    // As ask(). Nothing if the kernel has no description of the name at that place.
    Task<std::optional<std::string>> inspect(std::string code, std::int64_t cursor, std::int64_t detail_level);
    // As ask(). Nothing if the kernel does not report its variables.
    Task<std::optional<jupyter::Variables>> variables();
    // Throws Error{unsupported} for a reserved word of the kernel's language or a name of ours, and Error{busy}.
    void require_variable_name(const std::string& name) const;
    // The value of a variable, and a variable that gets it. The names passed require_variable_name(). As ask(); throws
    // also Error{limit_exceeded}, and Error{unsupported} that says what cannot be copied.
    Task<VariableCopy> export_variable(std::string name);
    Task<void> import_variable(std::string name, VariableCopy copy);
    // The context of a call on the kernel's tool channel, by the sidecar's own records; only the line is the code's
    // claim.
    tools::CallContext current_call(std::optional<std::int64_t> reported_line, const std::string& named) override;
    void record_origin(protocol::ChannelOriginParams told) override;
    void clear_origins() override;

  private:
    void on_output(const std::string& parent, jupyter::Output output) override;
    void record(const std::shared_ptr<Execution>& execution, const jupyter::Output& output);
    void flush_output(const std::shared_ptr<Execution>& execution);
    Task<void> flush_output_soon(std::shared_ptr<Execution> execution);
    void on_input_request(jupyter::InputRequest request) override;

    void require_open() const;
    // Throws Error{busy} if code of another agent ran, runs or will run in this kernel: they could use each other's
    // grants.
    void require_single_agent(const gate::Agent& agent) const;
    void require_idle() const;
    void require_restartable() const;
    Task<std::string> ask(jupyter::KernelQuery query, Duration timeout);
    KernelAccess access(const KernelInstance& instance, Duration timeout);
    Task<void> check_settings(const SandboxChange& change);

    Task<void> start_kernel();
    // Cancels the queue; nothing more runs on the present kernel. The first reason is kept.
    void mark_kernel_lost(const std::string& reason);
    // A task of this session, so that close() ends it too. Sets replaced_, however it ends.
    Task<void> replace_kernel(std::shared_ptr<KernelInstance> instance, Duration grace);
    Task<void> watch_kernel(std::shared_ptr<KernelInstance> instance);

    Task<void> run_queue();
    // Returns when it may run, or is not in the queue any more.
    Task<void> take_turn(std::shared_ptr<Execution> next);
    Task<void> run(std::shared_ptr<Execution> execution);
    void lend_kernel(const gate::Agent& agent);
    void finish(const std::shared_ptr<Execution>& execution, protocol::ExecuteResult result);
    void cancel_queued(std::optional<ClientId> client, const std::string& reason);
    void set_status(protocol::SessionStatus status, std::optional<std::string> reason = {});

    SessionServices& services_;
    SessionOptions options_;
    WallTime created_at_;
    std::unique_ptr<sandbox::Launcher> launcher_;
    ExecutionQueue queue_;
    Condition queue_changed_;
    LatestKernel latest_;
    std::unique_ptr<KernelLimits> limits_;
    std::shared_ptr<KernelInstance> instance_;
    Event kernel_ready_;
    std::optional<Error> kernel_failure_; // set if the session is dead
    protocol::SessionStatus status_ = protocol::SessionStatus::starting;
    std::shared_ptr<ExecutionRun> run_;          // of the running execution
    std::optional<gate::Agent> borrowing_agent_; // that ran code in the present kernel of a user's session
    bool replacing_ = false;                     // replace_kernel() is running
    Event replaced_;
    bool closing_ = false;
    Event closed_;
    TaskScope tasks_;
};

} // namespace cellgate::session
