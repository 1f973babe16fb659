#include "base/fake_clock.hpp"
#include "kernel_limits.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fstream>

using namespace cellgate;
using namespace cellgate::session;

namespace {

struct Machine {
    void set_kills(int count) const { std::ofstream(vmstat) << "oom_kill " << count << "\n"; }
    std::optional<LimitExceeded> exceeded(int signal) const {
        jupyter::KernelExit kernel_exit;
        kernel_exit.status.signal = signal;
        return kernel_limits.exceeded(nullptr, kernel_exit);
    }

    const TempFolder folder;
    const std::string vmstat = folder.path / "vmstat";
    const protocol::Limits limits;
    FakeClock clock;
    KernelLimits kernel_limits{limits, clock, vmstat};
};

} // namespace

TEST_CASE("a kernel that is killed before its first execution is not charged with earlier kills of the machine") {
    Machine machine;
    machine.set_kills(7);
    machine.kernel_limits.restart(nullptr);
    CHECK_FALSE(machine.exceeded(SIGKILL));
    machine.set_kills(8);
    REQUIRE(machine.exceeded(SIGKILL));
    CHECK(machine.exceeded(SIGKILL)->status == protocol::ExecutionStatus::oom);
    CHECK_FALSE(machine.exceeded(SIGTERM));
}

TEST_CASE("kills are counted from the latest execution on, and read once a second at most") {
    Machine machine;
    machine.set_kills(7);
    machine.kernel_limits.restart(nullptr);
    machine.set_kills(8);
    machine.kernel_limits.inspect(nullptr); // the first after a start always looks
    CHECK_FALSE(machine.exceeded(SIGKILL));
    machine.set_kills(9);
    machine.kernel_limits.inspect(nullptr);
    CHECK(machine.exceeded(SIGKILL));
    machine.clock.advance(std::chrono::seconds(2));
    machine.kernel_limits.inspect(nullptr);
    CHECK_FALSE(machine.exceeded(SIGKILL));
}
