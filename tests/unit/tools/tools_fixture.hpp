#pragma once
// `Fixture` is a registry and a gate around a temporary workspace, with a user who answers as the test
// says.

#include "async/loop.hpp"
#include "base/fake_clock.hpp"
#include "gate/gate.hpp"
#include "temp_folder.hpp"
#include "tools/registry.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace tools_fixture {

using namespace cellgate;
namespace fs = std::filesystem;

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

inline void write_text(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// Allows everything once, unless the test says otherwise.
struct User final : gate::ApprovalClient {
    explicit User(gate::Gate& gate_) : gate(gate_) {}

    void on_requested(const protocol::Approval& approval) override {
        requested.push_back(approval);
        asked.set();
        if (answer) {
            answer(approval);
        }
    }
    void on_resolved(const protocol::ApprovalResolvedParams& params) override { resolved.push_back(params); }

    void respond(const protocol::Approval& approval, protocol::Verdict verdict,
                 const std::optional<RawJson>& arguments = std::nullopt) {
        protocol::ApprovalRespondParams params;
        params.approval_ids = {approval.approval_id};
        params.decision = verdict;
        params.scope = protocol::Scope::once;
        if (arguments) {
            params.arguments_text = arguments->text();
        }
        if (verdict == protocol::Verdict::deny) {
            params.reason = "not today";
        }
        answers.spawn(keep_refusal(std::move(params)));
    }
    Task<void> keep_refusal(protocol::ApprovalRespondParams params) {
        try {
            co_await gate.respond(std::move(params));
        } catch (const Error& error) {
            refused.push_back(error.message);
        }
    }
    void allow(const protocol::Approval& approval) { respond(approval, protocol::Verdict::allow); }
    void deny(const protocol::Approval& approval) { respond(approval, protocol::Verdict::deny); }

    gate::Gate& gate;
    TaskScope answers;
    std::function<void(const protocol::Approval&)> answer = [this](const protocol::Approval& each) { allow(each); };
    std::vector<protocol::Approval> requested;
    std::vector<std::string> refused; // answers
    std::vector<protocol::ApprovalResolvedParams> resolved;
    Event asked;
};

struct Outcome {
    std::optional<protocol::CallToolResult> result;
    std::optional<Error> error;
    Event done;
    std::shared_ptr<CancelState> cancel;

    std::string text() const {
        if (error) {
            return "error: " + error->message;
        }
        return result ? result->content.value().at(0).value("text", "") : "nothing yet";
    }
    ErrorCode code() const { return error ? error->code : ErrorCode::internal_error; }
};

struct Fixture {
    Fixture() {
        workspace = folder.path / "workspace";
        fs::create_directory(workspace);
        environment = {{"PATH", ::getenv("PATH")}, {"HOME", folder.path.string()}, {"SECRET_OF_OURS", "x"}};
        gate::GateOptions options;
        options.root = workspace.string();
        options.policy_directory = (folder.path / "policy").string();
        options.run_blocking = [this](std::function<void()> work) { return loop.run_blocking(std::move(work)); };
        gate = std::make_unique<gate::Gate>(loop.clock(), options);
        user = std::make_unique<User>(*gate);
        gate->attach(*user);
        start_registry(loop.clock());
    }
    // Before anything was started.
    void start_registry(Clock& clock) {
        tools::RegistryOptions options;
        options.workspace = workspace.string();
        options.environment = environment;
        options.ourselves = {"cellgate", "0"};
        registry = std::make_unique<tools::Registry>(loop, clock, *gate, options);
    }

    // Runs `test` to its end, and then everything else.
    void run(Task<void> test) { loop.run(whole(std::move(test))); }
    Task<void> whole(Task<void> test) {
        std::exception_ptr error;
        try {
            co_await std::move(test);
        } catch (...) {
            error = std::current_exception();
        }
        calls.cancel();
        co_await calls.join();
        co_await user->answers.join();
        co_await registry->close();
        co_await gate->close();
        if (error) {
            std::rethrow_exception(error);
        }
    }

    tools::ServerSpec fixture(const std::string& name, std::vector<std::string> flags = {}) {
        tools::ServerSpec spec;
        spec.name = name;
        spec.config.command = "python3";
        flags.insert(flags.begin(), CELLGATE_FIXTURES "/mcp_server.py");
        spec.config.args = std::move(flags);
        return spec;
    }
    // As the service does for what a user named.
    void add(const tools::ServerSpec& spec) {
        registry->add({spec});
        protocol::RuleSpec rule;
        rule.effect = protocol::Effect::allow;
        rule.kind = protocol::ActionKind::server;
        rule.server = spec.name;
        gate->configure(rule, protocol::RuleSource::user,
                        tools::describe(spec, workspace.string(), environment).identity);
    }
    void allow_tool(const std::string& tool) {
        protocol::RuleSpec rule;
        rule.effect = protocol::Effect::allow;
        rule.kind = protocol::ActionKind::tool;
        rule.tool = tool;
        gate->configure(rule, protocol::RuleSource::user);
    }

    Task<void> keep(std::shared_ptr<Outcome> outcome, tools::CallContext context, std::string server, std::string tool,
                    RawJson arguments) {
        try {
            outcome->result = co_await registry->dispatcher().call(std::move(context), std::move(server),
                                                                   std::move(tool), std::move(arguments));
        } catch (const Error& error) {
            outcome->error.emplace(error.code, error.message, error.hint);
        }
        outcome->done.set();
    }
    std::shared_ptr<Outcome> start_call(const std::string& server, const std::string& tool,
                                        const std::string& arguments, tools::CallContext context = {}) {
        auto outcome = std::make_shared<Outcome>();
        outcome->cancel = calls.spawn(keep(outcome, std::move(context), server, tool, RawJson::parse(arguments)));
        return outcome;
    }
    Task<std::shared_ptr<Outcome>> call(std::string server, std::string tool, std::string arguments) {
        const std::shared_ptr<Outcome> outcome = start_call(server, tool, arguments);
        co_await outcome->done.wait();
        co_return outcome;
    }
    // Until `condition` holds; true. False after ten seconds. Give lambdas that capture pointers and references only:
    // g++ 12 destroys twice what a temporary of a co_await expression owns.
    Task<bool> until(std::function<bool()> condition) {
        for (int turn = 0; turn < 2000 && !condition(); ++turn) {
            co_await sleep_for(loop.clock(), std::chrono::milliseconds(5));
        }
        co_return condition();
    }
    std::size_t lines_of(const fs::path& file) {
        const std::string text = read_text(file);
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }

    TempFolder folder;
    fs::path workspace;
    Environment environment;
    async::Loop loop;
    std::unique_ptr<gate::Gate> gate;
    std::unique_ptr<User> user;
    std::unique_ptr<tools::Registry> registry;
    TaskScope calls;
};

} // namespace tools_fixture
