#pragma once
// `SessionFixture` is one session in no sandbox, in a workspace of its own, with all that it uses.

#include "base/fake_clock.hpp"
#include "session/session.hpp"
#include "temp_folder.hpp"
#include "tools/registry.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::session {

struct IgnoringObserver : SessionObserver {
    Task<void> before_execution(std::shared_ptr<const Execution> /*execution*/) override { co_return; }
    void on_session_changed(const protocol::SessionChangedParams&) override {}
    void on_execution_waits(const Execution&, std::optional<std::int64_t>) override {}
    void on_execution_changed(const Execution&, std::optional<std::int64_t>) override {}
    void on_reviewed_result(const std::string&, const Execution*, const std::string&) override {}
    void on_kernel_started(const std::string&) override {}
    void on_progress(const Execution&, const protocol::ExecuteProgressParams&) override {}
    void on_output(const Execution&, const protocol::OutputRecord&) override {}
    Task<std::optional<std::string>> ask_input(ClientId, protocol::InputRequestParams) override {
        co_return std::nullopt;
    }
};

// `clock` stands still until it is moved. Kernelspecs are looked for in `folder`/jupyter, too.
template <class Observer>
struct SessionFixture {
    // `real_time`: the session has the clock of the loop.
    explicit SessionFixture(bool real_time = false) : time(real_time ? loop.clock() : clock) {
        for (const char* name : {"workspace", "workspace/sub", "state", "config", "runtime"}) {
            std::filesystem::create_directory(folder + "/" + name);
        }
    }
    virtual ~SessionFixture() = default;

    void open(SessionOptions options) {
        options.id = "s";
        options.isolation = sandbox::Isolation::none;
        session = std::make_unique<Session>(services, std::move(options));
    }

    // Starts the session, runs `test`, and ends everything, whatever happens.
    void run(Task<void> test) { loop.run(whole(std::move(test))); }
    Task<void> whole(Task<void> test) {
        std::exception_ptr error;
        try {
            co_await session->start();
            co_await std::move(test);
        } catch (...) {
            error = std::current_exception();
        }
        std::string reason = "the test has ended";
        co_await session->close(std::move(reason));
        co_await end();
        co_await others.join();
        co_await registry.close();
        co_await gate.close();
        CHECK(std::filesystem::is_empty(directories.runtime));
        if (error) {
            std::rethrow_exception(error);
        }
    }
    // Once the session is closed.
    virtual Task<void> end() { co_return; }

    gate::GateOptions gate_options() {
        gate::GateOptions options;
        options.root = workspace;
        options.policy_directory = folder + "/config/policy";
        options.run_blocking = [this](std::function<void()> work) { return loop.run_blocking(std::move(work)); };
        return options;
    }
    Environment with_kernels() const {
        Environment all = process_environment();
        all["JUPYTER_PATH"] = folder + "/jupyter";
        return all;
    }

    TempFolder temp_folder;
    std::string folder = temp_folder.path;
    std::string workspace = folder + "/workspace";
    Environment environment = with_kernels();
    store::Directories directories{folder + "/state", folder + "/config", folder + "/runtime", folder + "/data"};
    async::Loop loop;
    FakeClock clock;
    Clock& time;
    gate::Gate gate{loop.clock(), gate_options()};
    tools::Registry registry{loop, loop.clock(), gate,
                             tools::RegistryOptions{workspace, environment, {"cellgate", "0"}}};
    Observer recorder;
    store::Journals journals{folder, run_inline};
    std::unique_ptr<egress::Network> network = egress::make_system_network(loop);
    ExecutionTurns turns{1};
    KnownSecrets secrets;
    SessionServices services{loop,     time,     gate,        registry.dispatcher(),
                             *network, recorder, directories, journals,
                             turns,    secrets,  workspace,   environment};
    std::unique_ptr<Session> session;
    std::vector<std::string> outcomes;
    TaskScope others;
};

} // namespace cellgate::session
