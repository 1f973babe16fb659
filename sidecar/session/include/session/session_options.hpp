#pragma once
// `SessionOptions` is what a session was created with; `SessionServices` is what all sessions of a sidecar share, with
// the `SessionObserver` that receives their events.

#include "async/loop.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/known_secrets.hpp"
#include "egress/proxy.hpp"
#include "gate/gate.hpp"
#include "protocol/messages/sessions.hpp"
#include "sandbox/image.hpp"
#include "sandbox/isolation.hpp"
#include "sandbox/settings.hpp"
#include "session/execution.hpp"
#include "store/directories.hpp"
#include "store/journals.hpp"
#include "tools/tool_call_dispatcher.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::session {

class SpareKernels;

// Receives the events of all sessions, in order. Implemented by the service; must outlive the sessions.
struct SessionObserver {
    virtual ~SessionObserver() = default;
    // Awaited before an execution starts; it may be removed from the queue meanwhile.
    virtual Task<void> before_execution(std::shared_ptr<const Execution> execution) = 0;
    virtual void on_session_changed(const protocol::SessionChangedParams& changed) = 0;
    virtual void on_execution_changed(const Execution& execution, std::optional<std::int64_t> position) = 0;
    // It is queued, and begins to wait for its turn.
    virtual void on_execution_waits(const Execution& execution, std::optional<std::int64_t> position) = 0;
    virtual void on_output(const Execution& execution, const protocol::OutputRecord& record) = 0;
    // The session's kernel gets a result of this tool ("server/tool") that a user wants to see before an agent does.
    // `running`: what runs there, if anything.
    virtual void on_reviewed_result(const std::string& session_id, const Execution* running,
                                    const std::string& tool) = 0;
    // What the kernel before it knew is gone.
    virtual void on_kernel_started(const std::string& session_id) = 0;
    virtual void on_progress(const Execution& execution, const protocol::ExecuteProgressParams& progress) = 0;
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
    ExecutionTurns& turns; // of agents
    const KnownSecrets& secrets;
    std::string workspace;               // the workspace, canonical
    Environment environment;             // of this process
    std::string vmstat = "/proc/vmstat"; // where the system counts processes that it killed for lack of memory
    // egress::Inspection::secret_value, for what runs in a session.
    std::function<Task<std::string>(std::string session_id, std::string name, std::string endpoint)> request_secret =
        {};
    // The token for a Jupyter server, as jupyter::TokenSource.
    std::function<Task<std::string>(std::optional<std::string> session_id, protocol::KernelServer server,
                                    std::optional<std::string> refusal)>
        server_token = {};
    SpareKernels* spares = nullptr;        // none are kept
    std::string meminfo = "/proc/meminfo"; // what is left of the machine's memory
};

// What a user may change for a start, beside the limits.
struct SandboxChange {
    std::shared_ptr<const sandbox::Settings> settings;
    sandbox::Additions additions;
    std::shared_ptr<const sandbox::Image> image;
};

struct SessionOptions {
    std::string id;
    std::optional<std::string> language;
    protocol::KernelChoice kernel; // neither name nor interpreter: the default kernel
    std::string cwd;               // absolute
    bool restore_cwd = false;
    std::map<std::string, std::string> environment;
    sandbox::Isolation isolation = sandbox::default_isolation;
    std::shared_ptr<const sandbox::Settings> settings; // a user's file, for the sandbox
    sandbox::Additions additions;                      // a user's, to it
    std::shared_ptr<const sandbox::Image> image;       // a user's: the system of the sandbox, and the kernel's Python
    protocol::Limits limits;
    std::optional<std::string> profile;                   // its name
    std::vector<std::string> domains;                     // that may be connected to without asking: the profile's
    bool ask_before_programs = false;                     // the profile's, too
    std::optional<std::vector<std::string>> tool_servers; // if given, only these may be called
    std::optional<gate::Agent> agent;                     // the owner, if it is an agent
    std::vector<gate::SessionRule> rules;                 // of a saved tool, for its run
    std::optional<std::string> saved_tool;                // it is a run of the saved tool so called: no client uses it
    bool runs_within_call = false; // of an execution that waits for it: it waits for no turn of its own

    // Whether packages that cellgate installs are seen by its kernel.
    bool holds_installs() const { return sandbox::traits_of(isolation).installs && !image; }
};

} // namespace cellgate::session
