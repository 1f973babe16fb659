// A spare kernel, a real one in no sandbox: when it starts and ends. What it must not differ in, and who gets it, is in
// tests/integration/test_spare.py.

#include "session/spare_kernels.hpp"
#include "session_fixture.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace cellgate;
using namespace cellgate::session;
using namespace std::chrono_literals;

namespace {

struct Fixture : SessionFixture<IgnoringObserver> {
    Fixture() {
        write_available(8000);
        services.spares = &spares;
        services.meminfo = folder + "/meminfo";
        spares.enable(true);
        SessionOptions options;
        options.cwd = workspace;
        open(std::move(options));
    }
    Task<void> end() override { co_await spares.close(); }

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

    bool is_busy = false;
    SpareKernels spares{services, [this] { return is_busy; }};
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
