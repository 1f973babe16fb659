#pragma once
// `KernelInstance` is one kernel that a session uses, with everything that belongs to it alone: where the session
// started it, its directory, its tool channel, its proxy and its process. A spare one (spare_kernels.hpp) is no
// session's: it has neither channel nor proxy until adopt() gives it to a session's instance. end() must have been
// awaited before it is destroyed.

#include "comm_tools.hpp"
#include "connection_attribution.hpp"
#include "jupyter/kernel.hpp"
#include "jupyter/kernel_choice.hpp"
#include "language_support.hpp"
#include "sandbox/launcher.hpp"
#include "session/execution_queue.hpp"
#include "session/latest_kernel.hpp"
#include "session/process_usage.hpp"
#include "session/session_options.hpp"
#include "start_state.hpp"
#include "store/locked_temp_dir.hpp"
#include "tools/channel.hpp"

namespace cellgate::session {

// The parts of a session that its kernel uses. All outlive the kernel. A spare kernel has no session yet: three are
// nullptr.
struct KernelContext {
    SessionServices& services;
    const SessionOptions& options;
    sandbox::Launcher& launcher;
    const ExecutionQueue* executions;
    jupyter::KernelListener* listener;
    tools::CallerIdentity* caller;
    LatestKernel& latest; // is written

    bool is_spare() const { return caller == nullptr; }
};

// Passes a kernel's messages to the session that has it. Those to none are dropped.
struct SessionListener final : jupyter::KernelListener {
    void on_output(const std::string& parent, jupyter::Output output) override {
        if (session != nullptr) {
            session->on_output(parent, std::move(output));
        }
    }
    void on_input_request(jupyter::InputRequest request) override {
        if (session != nullptr) {
            session->on_input_request(std::move(request));
        }
    }

    jupyter::KernelListener* session = nullptr;
};

struct KernelInstance {
    explicit KernelInstance(KernelContext context_) : context(context_) { listener->session = context.listener; }

    // Throws Error{kernel_not_found, kernel_start_failed, sandbox_unavailable, config_invalid, denied}; nothing of it
    // is left then.
    static Task<std::unique_ptr<KernelInstance>> start(KernelContext context);
    // Ways to get the kernel (kernel_source.hpp): a process in its sandbox, or the spare kernel where there is a
    // fitting one; one that already runs; one on a Jupyter server. After an error of the last two the instance has to
    // be ended.
    static Task<std::unique_ptr<KernelInstance>> start_process(KernelContext context);
    Task<void> connect();
    Task<void> start_on_server();
    // For one that has not started: what a start now would do that the start of `spare` did not; nothing if its kernel
    // would be the same. Throws what the start would throw.
    Task<std::optional<std::string>> difference_to(const KernelInstance& spare, jupyter::KernelChoice choice);
    // Takes the kernel of `spare`, after difference_to(). If that throws, end() has to be awaited.
    Task<void> adopt(KernelInstance& spare);
    // For questions to it, which `ask` sends.
    KernelAccess access(KernelAccess::Ask ask) const;
    // Nothing if it is no process of ours.
    std::optional<KernelProcesses> processes() const;
    // Interrupts the code that runs, and its tool calls.
    void interrupt();
    // Accepts no further tool calls or connections.
    void close_channels();
    // Ends its processes, after `grace`, and removes its directory and its control group.
    Task<void> end(Duration grace);

    KernelContext context;
    std::unique_ptr<SessionListener> listener = std::make_unique<SessionListener>(); // of its messages
    store::LockedTempDir temp_dir;           // its files and sockets; removed at the end
    jupyter::ConnectionInfo connection;      // of a process
    std::unique_ptr<tools::Channel> channel; // where its code can call tools
    std::unique_ptr<egress::Proxy> proxy;    // in a sandbox
    const std::shared_ptr<egress::Inspection> inspection = std::make_shared<egress::Inspection>(); // of its requests
    ConnectionAttribution attribution;                                                             // of connections
    TaskScope serving;                                                                             // of both
    sandbox::Profile profile;
    std::shared_ptr<const sandbox::KernelMounts> mounts; // in a sandbox
    std::shared_ptr<sandbox::ControlGroup> group;        // that the kernel is in, where one is available
    std::unique_ptr<LanguageSupport> language;
    std::unique_ptr<CommTools> comm_tools; // of a kernel that has no socket to us; outlives it
    std::unique_ptr<jupyter::Kernel> kernel;
    bool may_have_spare = false;     // another one like it may be started before it is asked for
    StartState state;                // of a spare one: when it was started
    std::optional<std::string> lost; // why nothing more may run on it

  private:
    // For a kernel that has no socket to us: calls of its code come over a comm.
    Task<void> open_comm_channel();
    void choose(const jupyter::KernelChoice& choice);
    Task<void> launch(jupyter::KernelChoice choice);
    // What a start in its directory consists of, and its sandboxed command. `compares`: sets `state`, too.
    KernelLaunch plan(const jupyter::KernelChoice& choice);
    Task<sandbox::Launch> wrap(const jupyter::KernelChoice& choice, KernelLaunch start, bool compares);
    // Makes the authority that the sandbox trusts, while the launch goes on.
    Task<void> make_trusted_authority(Environment given);
    // What its language's support needs to know of it.
    Task<void> introduce();
    void open_channels();
    bool has_proxy() const { return sandbox::traits_of(context.options.isolation).own_network; }
    std::unique_ptr<egress::Proxy> make_proxy();
    sandbox::Profile make_profile(const jupyter::KernelChoice& choice) const; // without packages
    // Of the kernelspec and the session, the tool channel, placeholders of secrets, and trusted authorities.
    Environment make_environment(const jupyter::KernelChoice& choice);
    void record_sandbox(const std::vector<std::string>& layers, const std::vector<std::string>& sandbox_notices);
    // For jupyter::SignsOfLife.
    Task<std::string> progress_of(int pid);

    bool has_connected_ = false; // it, or a program of it
    int looks_while_connected_ = 0;

    Event authority_made_;
    std::exception_ptr authority_failure_;

    std::string path_of(std::string_view name) const { return temp_dir.path + "/" + std::string(name); }
};

} // namespace cellgate::session
