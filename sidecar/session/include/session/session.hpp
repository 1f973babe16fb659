#pragma once
// `Session` is one kernel in its sandbox with the queue of executions that it runs one after the other. A session
// outlives its kernel: when the kernel dies, the running execution gets a result that names the cause, queued ones are
// cancelled (the state that they relied on is gone), and a new kernel is started. A result of status killed is given
// once no process of that kernel runs any more. Owned by the service, which must await close() before destruction.

#include "async/loop.hpp"
#include "egress/proxy.hpp"
#include "packages/python.hpp"
#include "gate/gate.hpp"
#include "jupyter/kernel.hpp"
#include "jupyter/kernel_choice.hpp"
#include "protocol/messages/sessions.hpp"
#include "sandbox/launcher.hpp"
#include "session/execution.hpp"
#include "session/failures.hpp"
#include "store/directories.hpp"
#include "store/journals.hpp"
#include "tools/channel.hpp"
#include "tools/tool_call_dispatcher.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::session {

// Receives the events of all sessions, in order. Implemented by the service; must outlive the sessions.
struct SessionObserver {
    virtual ~SessionObserver() = default;
    virtual void on_session_changed(const protocol::SessionChangedParams& changed) = 0;
    virtual void on_execution_changed(const Execution& execution, std::optional<std::int64_t> position) = 0;
    virtual void on_output(const Execution& execution, const protocol::OutputRecord& record) = 0;
    // The user's answer; nothing if the client cannot ask.
    virtual Task<std::optional<std::string>> ask_input(ClientId client, protocol::InputRequestParams params) = 0;
};

// `SessionServices` is what every session of a sidecar shares. All outlive the sessions.
struct SessionServices {
    async::Loop& loop;
    Clock& clock; // of executions
    gate::Gate& gate;
    tools::ToolCallDispatcher& tools;
    egress::Network& network;
    SessionObserver& observer;
    const store::Directories& directories;
    store::Journals& journals;
    std::string workspace;               // the workspace, canonical
    Environment environment;    // of this process
    std::string vmstat = "/proc/vmstat"; // where the system counts processes that it killed for lack of memory
};

struct SessionOptions {
    std::string id;
    std::optional<std::string> language;
    protocol::KernelChoice kernel; // neither name nor interpreter: the default kernel
    std::string cwd;               // absolute
    bool restore_cwd = false;
    std::map<std::string, std::string> environment;
    sandbox::Isolation isolation = sandbox::Isolation::bwrap;
    std::shared_ptr<const sandbox::Settings> settings; // a user's file, for the sandbox
    sandbox::Additions additions;                      // a user's, to it
    sandbox::Limits limits;
    std::optional<double> wall_seconds;                   // upper bound of an execution's timeout
    std::optional<std::vector<std::string>> tool_servers; // if given, only these may be called
    std::optional<gate::Agent> agent;                     // the owner, if it is an agent
};

class Session final : public jupyter::KernelListener, public tools::CallerIdentity {
  public:
    Session(SessionServices& services, SessionOptions options);
    ~Session() override;

    const std::string& id() const { return options_.id; }
    bool belongs_to(ClientId agent) const { return options_.agent && options_.agent->client == agent; }
    protocol::SessionInfo info() const;
    // Of the latest kernel; nothing if it does not run Python.
    const std::optional<packages::Python>& python() const { return python_; }

    // Starts the kernel. Throws Error{kernel_not_found, kernel_start_failed, sandbox_unavailable, denied}.
    Task<void> start();
    // As it was created, or last restarted.
    const SessionOptions& options() const { return options_; }
    // Ends the kernel, cancels the queue, and starts a new kernel with `settings` and `additions` for its sandbox.
    // Throws Error{busy} during another restart and Error{config_invalid} for paths that cannot be shown: then nothing
    // changed. Also throws what start() throws: then the session is dead until it is restarted.
    Task<void> restart(std::shared_ptr<const sandbox::Settings> settings, sandbox::Additions additions);
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
    std::shared_ptr<Execution> find(const std::string& execution_id) const;
    // Finished ones that are still kept, the running one, the queue; in this order.
    std::vector<std::shared_ptr<Execution>> executions() const;
    // Whether the running execution is `client`'s.
    bool runs_for(ClientId client) const { return running_ && running_->client == client; }
    // The number of executions before it, with the running one; nothing unless it is queued.
    std::optional<std::int64_t> position(const Execution& execution) const;
    // Removes a queued execution, interrupts a running one. True if it still runs after `grace` without `force`; with
    // `force` the kernel is then restarted.
    Task<bool> cancel(std::shared_ptr<Execution> execution, Duration grace, bool force);
    // Sends the query only while nothing runs or is queued, so that a user never waits for a cell. Throws Error{busy}
    // otherwise and on a timeout; Error{kernel_died, kernel_start_failed}.
    Task<std::string> ask(jupyter::KernelQuery query);
    // The context of a call on the kernel's tool channel, by the sidecar's own records; only the line is the code's
    // claim.
    tools::CallContext current_call(std::optional<std::int64_t> reported_line) override;
    void record_origin(protocol::ChannelOriginParams told) override;
    void clear_origins() override;

  private:
    struct KernelInstance;

    void on_output(const std::string& parent, jupyter::Output output) override;
    void on_input_request(jupyter::InputRequest request) override;

    void require_open() const;
    // Throws Error{busy} if code of another agent ran, runs or will run in this kernel: they could use each other's
    // grants.
    void require_single_agent(const gate::Agent& agent) const;
    void require_restartable() const;
    Task<void> check_settings(std::shared_ptr<const sandbox::Settings> settings, const sandbox::Additions& additions);
    Task<std::unique_ptr<KernelInstance>> start_kernel();
    std::unique_ptr<egress::Proxy> make_proxy(std::string path);
    void record_sandbox_notices(const std::vector<std::string>& notices);
    Task<jupyter::KernelChoice> choose_kernel();
    Task<void> allow_workspace_kernel(jupyter::KernelChoice choice, std::string identity);
    // Cancels the queue; nothing more runs on the present kernel. The first reason is kept.
    void mark_kernel_lost(const std::string& reason);
    Task<std::string> end_by_exit(std::shared_ptr<KernelInstance> instance);
    Task<void> end_kernel(std::shared_ptr<KernelInstance> instance, Duration grace);
    // A task of this session, so that close() ends it too. Sets replaced_, however it ends.
    Task<void> replace_kernel(std::shared_ptr<KernelInstance> instance, Duration grace);
    Task<void> watch_kernel(std::shared_ptr<KernelInstance> instance);
    void interrupt(KernelInstance& instance);

    Task<void> run_queue();
    Task<void> run(std::shared_ptr<Execution> execution);
    // The result of an execution whose kernel died, or must be ended.
    Task<protocol::ExecuteResult> end_with_kernel(std::shared_ptr<Execution> execution,
                                                  std::shared_ptr<KernelInstance> instance, std::string failure);
    Task<void> restore_cwd(std::shared_ptr<KernelInstance> instance);
    // Checks whether the sandbox made the code fail on a path.
    struct PathInspection;
    Task<void> add_path_notes(std::shared_ptr<Execution> execution, std::shared_ptr<KernelInstance> instance,
                              std::vector<FailedPath> paths);
    Task<void> inspect_paths(std::shared_ptr<PathInspection> inspection);
    Task<void> enforce_timeout(std::shared_ptr<Execution> execution, Duration limit);
    Task<bool> interrupt_and_wait(std::shared_ptr<Execution> execution, Duration grace);
    Task<void> answer_input(jupyter::InputRequest request, std::shared_ptr<Execution> execution);
    Task<void> send_chdir();

    void record(Execution& execution, RawJson output);
    void finish(const std::shared_ptr<Execution>& execution, protocol::ExecuteResult result);
    // Drops the oldest ones beyond the limit.
    void remember(const Execution& execution);
    void cancel_queued(std::optional<ClientId> client, const std::string& reason);
    protocol::ExecutionError describe(const jupyter::KernelError& error) const;
    protocol::ExecuteResult result_of(const Execution& execution, protocol::ExecutionStatus status,
                                      std::optional<std::string> reason) const;
    protocol::ExecuteResult result_of(const Execution& execution, const jupyter::ExecuteReply& reply);
    void set_status(protocol::SessionStatus status, std::optional<std::string> reason = {});
    // A kernel that the system ended because a limit was exceeded.
    struct LimitExceeded {
        protocol::ExecutionStatus status = protocol::ExecutionStatus::killed;
        std::string reason;
    };
    std::optional<LimitExceeded> limit_exceeded(const KernelInstance& instance,
                                                const jupyter::KernelExit& kernel_exit) const;
    // In the kernel's control group; without one, on the whole machine.
    std::uint64_t memory_kills(const KernelInstance& instance) const;
    void record_memory_kills(const KernelInstance& instance);

    SessionServices& services_;
    SessionOptions options_;
    Clock& clock_;
    WallTime created_at_;
    std::unique_ptr<sandbox::Launcher> launcher_;
    std::shared_ptr<KernelInstance> instance_;
    std::optional<Error> kernel_failure_; // set if the session is dead
    protocol::SessionStatus status_ = protocol::SessionStatus::starting;
    protocol::SessionKernel kernel_;
    std::optional<packages::Python> python_;
    std::vector<std::string> layers_;
    std::vector<std::string> sandbox_notices_;
    std::int64_t execution_count_ = 0;
    std::optional<Instant> memory_inspected_at_;
    std::uint64_t memory_kills_ = 0; // then

    std::optional<gate::Agent> borrowing_agent_; // that ran code in the present kernel of a user's session
    std::deque<std::shared_ptr<Execution>> queue_;
    std::size_t queued_code_ = 0; // bytes
    std::shared_ptr<Execution> running_;
    std::map<std::string, std::shared_ptr<Execution>> executions_;
    std::deque<std::string> finished_order_;
    std::size_t remembered_code_ = 0; // bytes
    Event queue_changed_;
    Event kernel_ready_;
    bool replacing_ = false; // replace_kernel() is running
    Event replaced_;
    bool closing_ = false;
    Event closed_;
    // Tasks of the running execution; joined before its result is given.
    TaskScope helpers_;
    LastPrinted last_printed_; // by the running execution
    bool takes_input_ = false;
    std::shared_ptr<CancelState> prompt_; // of the latest input request
    TaskScope tasks_;
};

} // namespace cellgate::session
