// A spare kernel, a real one in no sandbox: when it starts and ends. What it must not differ in, and who gets it, is in
// tests/integration/test_spare.py.

#include "base/fake_clock.hpp"
#include "session/session.hpp"
#include "session/spare_kernels.hpp"
#include "temp_folder.hpp"
#include "tools/registry.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace cellgate;
using namespace cellgate::session;
using namespace std::chrono_literals;

namespace {

struct Ignoring final : SessionObserver {
    Task<void> before_execution(std::shared_ptr<const Execution>) override { co_return; }
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

struct Fixture {
    Fixture() {
        for (const char* name : {"workspace", "state", "config", "runtime"}) {
            std::filesystem::create_directory(folder + "/" + name);
        }
        write_available(8000);
        services.spares = &spares;
        services.meminfo = folder + "/meminfo";
        SessionOptions options;
        options.id = "s";
        options.cwd = workspace;
        options.isolation = sandbox::Isolation::none;
        session = std::make_unique<Session>(services, std::move(options));
    }

    void run(Task<void> test) { loop.run(whole(std::move(test))); }
    Task<void> whole(Task<void> test) {
        std::exception_ptr error;
        try {
            spares.enable(true);
            co_await session->start();
            co_await std::move(test);
        } catch (...) {
            error = std::current_exception();
        }
        std::string reason = "the test has ended";
        co_await session->close(std::move(reason));
        co_await spares.close();
        co_await registry.close();
        co_await gate.close();
        CHECK(std::filesystem::is_empty(directories.runtime));
        if (error) {
            std::rethrow_exception(error);
        }
    }

    void write_available(int mebibytes) {
        std::ofstream(folder + "/meminfo")
            << "MemTotal: 10000000 kB\nMemFree: 1 kB\nMemAvailable: " << mebibytes * 1024 << " kB\n";
    }
    // Lets time pass, once something waits for it.
    Task<void> pass(Duration duration) {
        while (clock.sleepers() == 0) {
            co_await loop.yield();
        }
        clock.advance(duration);
    }
    Task<void> until_there(bool is_there) {
        while (spares.processes().has_value() != is_there) {
            co_await loop.yield();
        }
    }
    gate::GateOptions gate_options() {
        gate::GateOptions options;
        options.root = workspace;
        options.policy_directory = folder + "/config/policy";
        options.run_blocking = [this](std::function<void()> work) { return loop.run_blocking(std::move(work)); };
        return options;
    }

    TempFolder temp_folder;
    std::string folder = temp_folder.path;
    std::string workspace = folder + "/workspace";
    Environment environment = process_environment();
    store::Directories directories{folder + "/state", folder + "/config", folder + "/runtime", folder + "/data"};
    async::Loop loop;
    FakeClock clock;
    gate::Gate gate{loop.clock(), gate_options()};
    tools::Registry registry{loop, loop.clock(), gate,
                             tools::RegistryOptions{workspace, environment, {"cellgate", "0"}}};
    Ignoring observer;
    store::Journals journals{folder, run_inline};
    std::unique_ptr<egress::Network> network = egress::make_system_network(loop);
    ExecutionTurns turns{1};
    KnownSecrets secrets;
    SessionServices services{loop,     clock,    gate,        registry.dispatcher(),
                             *network, observer, directories, journals,
                             turns,    secrets,  workspace,   environment};
    bool is_busy = false;
    SpareKernels spares{services, [this] { return is_busy; }};
    std::unique_ptr<Session> session;
};

Task<void> starts_once_nothing_runs(Fixture* fixture) {
    fixture->is_busy = true;
    co_await fixture->pass(1s);
    co_await fixture->pass(1s);
    CHECK_FALSE(fixture->spares.processes());
    fixture->is_busy = false;
    co_await fixture->pass(1s);
    co_await fixture->until_there(true);
}

Task<void> ends_unused(Fixture* fixture) {
    co_await fixture->pass(1s);
    co_await fixture->until_there(true);
    co_await fixture->pass(10s);
    co_await fixture->pass(29min);
    CHECK(fixture->spares.processes());
    co_await fixture->pass(1min);
    co_await fixture->until_there(false);
}

Task<void> ends_when_memory_is_short(Fixture* fixture) {
    co_await fixture->pass(1s);
    co_await fixture->until_there(true);
    fixture->write_available(500);
    co_await fixture->pass(10s);
    co_await fixture->until_there(false);
}

Task<void> restart_uses_it(Fixture* fixture) {
    co_await fixture->pass(1s);
    co_await fixture->until_there(true);
    const int spare = fixture->spares.processes()->supervisor;
    SandboxChange none;
    co_await fixture->session->restart(std::move(none));
    CHECK(fixture->session->kernel_processes()->supervisor == spare);
    CHECK_FALSE(fixture->spares.processes());
    fixture->spares.enable(false);
}

} // namespace

TEST_CASE("a spare kernel starts once nothing runs") {
    Fixture fixture;
    fixture.run(starts_once_nothing_runs(&fixture));
}

TEST_CASE("a spare kernel that nothing used for half an hour ends") {
    Fixture fixture;
    fixture.run(ends_unused(&fixture));
}

TEST_CASE("a spare kernel ends when the machine's memory is short") {
    Fixture fixture;
    fixture.run(ends_when_memory_is_short(&fixture));
}

TEST_CASE("a restart has the spare kernel") {
    Fixture fixture;
    fixture.run(restart_uses_it(&fixture));
}
