#pragma once
// `Fixture` is a gate with everything around it that a test controls: time, a user, calls that wait, a workspace and a
// folder for stored rules.

#include "base/fake_clock.hpp"
#include "gate/gate.hpp"
#include "temp_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace gate_fixture {

using namespace cellgate;
using gate::Action;
using protocol::ActionKind;
using protocol::Effect;
using protocol::Matcher;
using protocol::ResolvedBy;
using protocol::Rule;
using protocol::RuleSpec;
using protocol::Scope;
using protocol::Verdict;

struct User final : gate::ApprovalClient {
    std::vector<protocol::Approval> requested;
    std::vector<protocol::ApprovalResolvedParams> resolved;
    std::vector<std::string> heard; // both, in order: "requested ID", "resolved ID"
    std::function<void(const protocol::Approval&)> record_immediate;

    void on_requested(const protocol::Approval& approval) override {
        requested.push_back(approval);
        heard.push_back("requested " + approval.approval_id);
        if (record_immediate) {
            record_immediate(approval);
        }
    }
    void on_resolved(const protocol::ApprovalResolvedParams& params) override {
        resolved.push_back(params);
        heard.push_back("resolved " + params.approval_id);
    }
    const std::string& last_id() const { return requested.back().approval_id; }
    // Oldest first.
    std::vector<protocol::Approval> pending() const {
        std::vector<protocol::Approval> left;
        std::copy_if(requested.begin(), requested.end(), std::back_inserter(left), [this](const auto& approval) {
            return std::none_of(resolved.begin(), resolved.end(),
                                [&approval](const auto& params) { return params.approval_id == approval.approval_id; });
        });
        return left;
    }
};

struct Outcome {
    std::optional<gate::Decision> decision;
    std::optional<ErrorCode> error;
    std::shared_ptr<CancelState> cancel;

    bool waits() const { return !decision && !error; }
    bool allowed() const { return decision && decision->allowed; }
    bool denied() const { return decision && !decision->allowed; }
};

inline Task<void> keep_outcome(gate::Gate* gate, gate::Request request, std::shared_ptr<Outcome> outcome) {
    try {
        gate::Decision decision = co_await gate->decide(std::move(request));
        outcome->decision = std::move(decision);
    } catch (const Error& error) {
        outcome->error = error.code;
    }
}

// Where the gate's work off the loop is done: here and at once, unless the test holds it up.
struct Worker {
    bool held = false;
    Event released;
    std::size_t jobs = 0;

    Task<void> run(std::function<void()> work) {
        ++jobs;
        if (held) {
            co_await released.wait();
        }
        work();
    }
    void release() {
        held = false;
        released.set();
    }
    RunBlocking run_blocking() {
        return [this](std::function<void()> work) { return run(std::move(work)); };
    }
};

template <class T>
struct Result {
    std::optional<T> value;
    std::exception_ptr error;
    bool ended() const { return value || error; }
    T take() const {
        if (error) {
            std::rethrow_exception(error);
        }
        return value.value();
    }
};

template <class T>
Task<void> keep_result(Task<T> task, std::shared_ptr<Result<T>> result) {
    try {
        result->value = co_await std::move(task);
    } catch (...) {
        result->error = std::current_exception();
    }
}

inline Task<bool> then_true(Task<void> task) {
    co_await std::move(task);
    co_return true;
}

// A folder in memory where there is one: stored rules are written with fsync, which is slow on a disk.
inline std::filesystem::path fast_parent() {
    const char* memory = "/dev/shm";
    return ::access(memory, W_OK) == 0 ? std::filesystem::path(memory) : std::filesystem::temp_directory_path();
}

struct Fixture {
    Fixture() {
        root = base / "root";
        policy = base / "policy";
        std::filesystem::create_directory(root);
        start();
        gate->attach(user);
    }
    Fixture(const Fixture&) = delete;
    Fixture& operator=(const Fixture&) = delete;
    ~Fixture() { stop(); }

    void start() {
        gate::GateOptions options;
        options.root = root.string();
        options.policy_directory = policy.string();
        options.run_blocking = worker.run_blocking();
        options.elicitor = elicitor;
        options.confirmer = confirmer;
        options.record = record;
        gate = std::make_unique<gate::Gate>(clock, options);
    }
    void stop() {
        calls.spawn(gate->close());
        gate.reset();
    }
    void restart() {
        stop();
        start();
        gate->attach(user);
    }

    void run_execution(const std::string& id, protocol::ApprovalMode mode = protocol::ApprovalMode::ask,
                       std::function<void(std::size_t)> on_pending = {}) {
        gate::ExecutionGrants execution;
        execution.session_id = "s";
        execution.execution_id = id;
        execution.mode = mode;
        execution.on_pending = std::move(on_pending);
        gate->begin_execution(std::move(execution));
    }

    std::shared_ptr<Outcome> ask(gate::Request request) {
        auto outcome = std::make_shared<Outcome>();
        outcome->cancel = calls.spawn(keep_outcome(gate.get(), std::move(request), outcome));
        return outcome;
    }
    // From code in session "s"; `execution` empty: nothing runs.
    std::shared_ptr<Outcome> ask(Action action, const std::string& execution = {}, const std::string& session = "s") {
        gate::Request request;
        request.action = std::move(action);
        request.session_id = session;
        request.from_code = true;
        if (!execution.empty()) {
            request.execution_id = execution;
        }
        return ask(std::move(request));
    }

    template <class T>
    std::shared_ptr<Result<T>> start(Task<T> task) {
        auto result = std::make_shared<Result<T>>();
        calls.spawn(keep_result(std::move(task), result));
        return result;
    }
    // Of what ends at once.
    template <class T>
    T now(Task<T> task) {
        return start(std::move(task))->take();
    }
    void respond(protocol::ApprovalRespondParams params) { now(then_true(gate->respond(std::move(params)))); }
    void remove(const std::string& rule_id) { now(then_true(gate->policy_remove(rule_id))); }

    void answer(const std::string& id, Verdict verdict, Scope scope = Scope::once,
                std::optional<RuleSpec> rule = std::nullopt) {
        protocol::ApprovalRespondParams params;
        params.approval_ids = {id};
        params.decision = verdict;
        params.scope = scope;
        params.rule = std::move(rule);
        respond(std::move(params));
    }
    void allow(Scope scope = Scope::once, std::optional<RuleSpec> rule = std::nullopt) {
        answer(user.last_id(), Verdict::allow, scope, std::move(rule));
    }
    void deny(Scope scope = Scope::once, std::optional<RuleSpec> rule = std::nullopt) {
        answer(user.last_id(), Verdict::deny, scope, std::move(rule));
    }
    Rule add(RuleSpec rule, Scope scope = Scope::session, const std::string& session = "s") {
        protocol::PolicyAddParams params;
        params.rule = std::move(rule);
        params.scope = scope;
        if (scope == Scope::session) {
            params.session_id = session;
        }
        return now(gate->policy_add(std::move(params)));
    }
    protocol::PolicyExplainResult explain(const Action& action, const std::string& execution = {}) {
        protocol::PolicyExplainParams params;
        params.action = gate::to_protocol(action);
        params.session_id = "s";
        if (!execution.empty()) {
            params.execution_id = execution;
        }
        return now(gate->policy_explain(std::move(params)));
    }

    TempFolder folder{fast_parent()};
    const std::filesystem::path base = folder.path;
    std::filesystem::path root;
    std::filesystem::path policy;
    FakeClock clock;
    Worker worker;
    User user;
    gate::Elicitor* elicitor = nullptr;
    gate::Confirmer* confirmer = nullptr;
    gate::RecordSink* record = nullptr;
    TaskScope calls;
    std::unique_ptr<gate::Gate> gate;
};

inline gate::ToolCall tool(const std::string& arguments, const std::string& name = "read_file",
                           const std::string& server = "files") {
    gate::ToolCall action;
    action.server = server;
    action.tool = name;
    action.arguments = RawJson::parse(arguments);
    action.server_identity = "identity of " + server;
    action.tool_identity = "definition of " + name;
    return action;
}

inline gate::HostCall host(const std::string& arguments, const std::string& name) {
    gate::HostCall action;
    action.tool = name;
    action.arguments = RawJson::parse(arguments);
    action.server_identity = "identity of host";
    action.tool_identity = "definition of " + name;
    return action;
}

// Of an agent's own tool.
inline gate::ClientCall own_call(const std::string& arguments, const std::string& name = "Bash") {
    gate::ClientCall action;
    action.server = "claude";
    action.tool = name;
    action.cwd = "/home/ada/plan/src";
    action.arguments = RawJson::parse(arguments);
    action.server_identity = "identity of claude";
    action.tool_identity = "definition of " + name;
    return action;
}

inline gate::ServerStart launch(std::vector<std::string> command, const std::string& server = "files") {
    gate::ServerStart action;
    action.server = server;
    action.command = std::move(command);
    action.cwd = "/home/ada/plan";
    action.environment_names = std::vector<std::string>{"HOME", "PATH"};
    action.server_identity = "identity of " + server;
    return action;
}

// Of the call that was decided.
inline const RawJson& arguments_of(const Outcome& outcome) {
    return std::get<gate::ToolCall>(outcome.decision.value().action).arguments;
}

inline RuleSpec rule(Effect effect, std::optional<ActionKind> kind = ActionKind::tool,
                     std::optional<std::string> server = std::nullopt,
                     std::optional<std::string> tool_name = std::nullopt) {
    RuleSpec spec;
    spec.effect = effect;
    spec.kind = kind;
    spec.server = std::move(server);
    spec.tool = std::move(tool_name);
    return spec;
}

inline Matcher equals(const std::string& json) {
    Matcher matcher;
    matcher.equals = RawJson::parse(json);
    return matcher;
}
inline Matcher glob(const std::string& pattern) {
    Matcher matcher;
    matcher.glob = pattern;
    return matcher;
}
inline Matcher under(const std::string& folder) {
    Matcher matcher;
    matcher.under = folder;
    return matcher;
}

inline RuleSpec with(RuleSpec spec, const std::string& pointer, Matcher matcher) {
    if (!spec.arguments) {
        spec.arguments.emplace();
    }
    spec.arguments->insert_or_assign(pointer, std::move(matcher));
    return spec;
}

template <class Run>
std::optional<ErrorCode> error_of(Run run) {
    try {
        run();
    } catch (const Error& error) {
        return error.code;
    }
    return std::nullopt;
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

// The user of an agent's program, who would say yes.
struct AgreeingProgram final : gate::Elicitor {
    bool can_elicit(const gate::Request&) const override { return true; }
    Task<protocol::ApprovalElicitResult> elicit(gate::Agent, protocol::Approval, bool) override {
        ++asked;
        protocol::ApprovalElicitResult yes;
        yes.decision = Verdict::allow;
        co_return yes;
    }
    int asked = 0;
};

} // namespace gate_fixture
