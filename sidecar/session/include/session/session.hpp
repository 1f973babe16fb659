#pragma once
// A session: one kernel in its sandbox, and the queue of executions that it runs one after the other. The session
// outlives its kernel: when that dies, what ran gets a result that says how, what waited is cancelled (the state it
// counted on is gone), and a new kernel is started. A result of status killed is given once nothing of that kernel
// runs. Owned by the service; close() must have been awaited before it goes.

#include "async/loop.hpp"
#include "egress/proxy.hpp"
#include "exec/python.hpp"
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
#include "tools/door.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::session {

// Who is told, in the order in which it happens. Implemented by the service; must outlive the sessions.
struct SessionObserver {
    virtual ~SessionObserver() = default;
    virtual void on_session_changed(const protocol::SessionChangedParams& changed) = 0;
    virtual void on_execution_changed(const Execution& execution, std::optional<std::int64_t> position) = 0;
    virtual void on_output(const Execution& execution, const protocol::OutputRecord& record) = 0;
    // The person's answer; nothing when there is none to be had.
    virtual Task<std::optional<std::string>> ask_input(ClientId client, protocol::InputRequestParams params) = 0;
};

// What every session of a sidecar shares.
struct House {
    async::Loop& loop;
    Clock& clock; // of executions
    gate::Gate& gate;
    tools::Door& tools;
    egress::Network& network;
    SessionObserver& observer;
    const store::Directories& directories;
    store::Journals& journals;
    std::string root;                    // the workspace, canonical
    sandbox::Environment environment;    // of this process
    std::string vmstat = "/proc/vmstat"; // where the system counts what it ended for want of memory
};

struct SessionOptions {
    std::string id;
    std::optional<std::string> language;
    protocol::KernelChoice kernel; // neither name nor interpreter: the default one
    std::string cwd;               // absolute
    bool restore_cwd = false;
    std::map<std::string, std::string> environment;
    sandbox::Isolation isolation = sandbox::Isolation::bwrap;
    std::shared_ptr<const sandbox::Settings> settings; // a person's file, for the sandbox
    sandbox::Additions additions;                      // a person's, to it
    sandbox::Limits limits;
    std::optional<double> wall_seconds; // the longest that an execution may run, whatever timeout it names
    std::optional<std::vector<std::string>> tool_servers; // the only ones that its code may call
    std::optional<gate::Agent> agent;                     // whose session it is
};

class Session final : public jupyter::KernelListener, public tools::RunningExecution {
  public:
    Session(House& house, SessionOptions options);
    ~Session() override;

    const std::string& id() const { return options_.id; }
    bool belongs_to(ClientId agent) const { return options_.agent && options_.agent->client == agent; }
    protocol::SessionInfo info() const;
    // Of the kernel that was started last; nothing when that is no Python.
    const std::optional<exec::Python>& python() const { return python_; }

    // Starts the kernel. Throws Error{kernel_not_found, kernel_start_failed, sandbox_unavailable, denied}.
    Task<void> start();
    // What it was created with, for a new start.
    const SessionOptions& options() const { return options_; }
    // Ends the kernel, cancels what waits, and starts a new one; in a sandbox by `settings` and `additions`. Throws
    // Error{busy} while that is under way, Error{config_invalid} for what cannot be shown: then nothing has changed;
    // and what start() throws: then the session is dead until it is restarted.
    Task<void> restart(std::shared_ptr<const sandbox::Settings> settings, sandbox::Additions additions);
    // Interrupts what runs now; what waits stays.
    void interrupt();
    // Ends the kernel; everything that has not finished ends as killed or cancelled. `reason` says why. Not while
    // start() is under way: that is cancelled, and awaited, first.
    Task<void> close(std::string reason);

    // The params carry an executionId or get one. Throws Error{execution_exists}, Error{session_not_found} when the
    // session is being closed, and Error{kernel_start_failed} when it is dead.
    std::shared_ptr<Execution> enqueue(protocol::ExecuteParams params, ClientId client,
                                       std::optional<gate::Agent> agent = std::nullopt);
    // nullptr when there is none of that id here.
    std::shared_ptr<Execution> find(const std::string& execution_id) const;
    // All that are remembered: those that have ended, the running one, the queue.
    std::vector<std::shared_ptr<Execution>> executions() const;
    // Whether what runs now was asked for by `client`.
    bool runs_for(ClientId client) const { return running_ && running_->client == client; }
    // How many come before it, the running one included; nothing unless it is queued.
    std::optional<std::int64_t> position(const Execution& execution) const;
    // Queued: removed. Running: interrupted. True when it still runs after `grace` and `force` was not given; with it
    // the kernel is ended and started anew.
    Task<bool> cancel(std::shared_ptr<Execution> execution, Duration grace, bool force);
    // Asks the kernel, when it has nothing to run: then nobody waits behind a cell. Throws Error{busy} else, and when
    // it takes longer than a person would wait; Error{kernel_died, kernel_start_failed}.
    Task<std::string> ask(jupyter::Question question);
    // Of the kernel's tool channel: who calls, by our own records. The line is what the code says.
    tools::CallContext current_call(std::optional<std::int64_t> reported_line) override;
    void note_origin(protocol::ChannelOriginParams told) override;
    void forget_origins() override;

  private:
    // One start of a kernel, with all that belongs to it alone.
    struct Start;

    void on_output(const std::string& parent, jupyter::Output output) override;
    void on_input_request(jupyter::InputRequest request) override;

    void require_open() const;
    // Throws Error{busy} when code of another agent is, or will be, in this kernel: they could use each other's grants.
    void require_only_guest(const gate::Agent& agent) const;
    void require_restartable() const;
    Task<void> check_settings(std::shared_ptr<const sandbox::Settings> settings, const sandbox::Additions& additions);
    Task<std::unique_ptr<Start>> start_kernel();
    std::unique_ptr<egress::Proxy> make_proxy(std::string path);
    void note_settings(const std::vector<std::string>& notices);
    Task<jupyter::KernelChoice> choose_kernel();
    Task<void> allow_workspace_kernel(jupyter::KernelChoice choice, std::string identity);
    // Nothing more runs on the present kernel: what waits is cancelled. The first reason stays.
    void lose_kernel(const std::string& reason);
    Task<std::string> end_by_exit(std::shared_ptr<Start> start);
    Task<void> end_kernel(std::shared_ptr<Start> start, Duration grace);
    // A task of this session, so that close() ends it too. Sets replaced_, however it ends.
    Task<void> replace_kernel(std::shared_ptr<Start> start, Duration grace);
    Task<void> watch_kernel(std::shared_ptr<Start> start);
    void interrupt(Start& start);

    Task<void> run_queue();
    Task<void> run(std::shared_ptr<Execution> execution);
    // The result of an execution whose kernel has gone, or has to go.
    Task<protocol::ExecuteResult> end_with_kernel(std::shared_ptr<Execution> execution, std::shared_ptr<Start> start,
                                                  std::string failure);
    Task<void> restore_cwd(std::shared_ptr<Start> start);
    // Whether the sandbox is why the code failed on paths.
    struct PathsLook;
    Task<void> note_paths(std::shared_ptr<Execution> execution, std::shared_ptr<Start> start,
                          std::vector<FailedPath> paths);
    Task<void> look_at_paths(std::shared_ptr<PathsLook> look);
    Task<void> enforce_timeout(std::shared_ptr<Execution> execution, Duration limit);
    Task<bool> interrupt_and_wait(std::shared_ptr<Execution> execution, Duration grace);
    Task<void> answer_input(jupyter::InputRequest request, std::shared_ptr<Execution> execution);
    Task<void> go_back_to_cwd();

    void record(Execution& execution, RawJson output);
    void finish(const std::shared_ptr<Execution>& execution, protocol::ExecuteResult result);
    // The oldest are forgotten for it.
    void remember(const Execution& execution);
    void cancel_queued(std::optional<ClientId> client, const std::string& reason);
    protocol::ExecutionError describe(const jupyter::KernelError& error) const;
    protocol::ExecuteResult result_of(const Execution& execution, protocol::ExecutionStatus status,
                                      std::optional<std::string> reason) const;
    protocol::ExecuteResult result_of(const Execution& execution, const jupyter::ExecuteReply& reply);
    void set_status(protocol::SessionStatus status, std::optional<std::string> reason = {});
    // A kernel that ended for having met a limit, as far as the system tells.
    struct LimitMet {
        protocol::ExecutionStatus status = protocol::ExecutionStatus::killed;
        std::string reason;
    };
    std::optional<LimitMet> limit_met(const Start& start, const jupyter::Death& death) const;
    // In the kernel's control group; where it has none, on the whole machine.
    std::uint64_t memory_kills(const Start& start) const;
    void note_memory_kills(const Start& start);

    House& house_;
    SessionOptions options_;
    Clock& clock_;
    WallTime created_at_;
    std::unique_ptr<sandbox::Launcher> launcher_;
    std::shared_ptr<Start> start_;
    std::optional<Error> kernel_failure_; // why there is no kernel, when the session is dead
    protocol::SessionStatus status_ = protocol::SessionStatus::starting;
    protocol::SessionKernel kernel_;
    std::optional<exec::Python> python_;
    std::vector<std::string> layers_;
    std::vector<std::string> sandbox_notices_;
    std::int64_t execution_count_ = 0;
    std::optional<Instant> memory_looked_at_;
    std::uint64_t memory_kills_ = 0; // then

    std::optional<gate::Agent> guest_; // whose code ran in the present kernel of a person's session
    std::deque<std::shared_ptr<Execution>> queue_;
    std::size_t queued_code_ = 0; // bytes
    std::shared_ptr<Execution> running_;
    std::map<std::string, std::shared_ptr<Execution>> executions_;
    std::deque<std::string> finished_order_;
    std::size_t remembered_code_ = 0; // bytes
    Event queue_changed_;
    Event kernel_ready_;
    bool replacing_ = false; // replace_kernel() is at work
    Event replaced_;
    bool closing_ = false;
    Event closed_;
    // On behalf of what runs now; ended before its result is given.
    TaskScope helpers_;
    LastPrinted last_printed_; // by what runs
    bool takes_input_ = false;
    std::shared_ptr<CancelState> prompt_; // of the latest input request
    TaskScope tasks_;
};

} // namespace cellgate::session
