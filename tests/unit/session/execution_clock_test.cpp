#include "base/fake_clock.hpp"
#include "session/execution_clock.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::session;
using namespace std::chrono_literals;

namespace {

struct Watched {
    FakeClock clock;
    ExecutionClock execution{clock};
    bool reached = false;
    TaskScope scope;

    explicit Watched(Duration limit) {
        execution.start();
        scope.spawn(watch(limit));
    }
    ~Watched() { scope.cancel(); }
    Task<void> watch(Duration limit) {
        co_await execution.reached(limit);
        reached = true;
    }
};

} // namespace

TEST_CASE("time counts while no approval is pending") {
    Watched watched(2s);
    watched.clock.advance(1999ms);
    CHECK_FALSE(watched.reached);
    watched.clock.advance(1ms);
    CHECK(watched.reached);
}

TEST_CASE("time in which an approval is pending does not count") {
    Watched watched(2s);
    watched.clock.advance(1s);
    watched.execution.set_pending(1);
    watched.clock.advance(1h);
    CHECK_FALSE(watched.reached);
    watched.execution.set_pending(0);
    watched.clock.advance(999ms);
    CHECK_FALSE(watched.reached);
    watched.clock.advance(1ms);
    CHECK(watched.reached);
    CHECK(watched.execution.waited() == 1h);
    CHECK(watched.execution.total() == 1h + 2s);
}

TEST_CASE("of two approvals that wait at once, the first answer does not start the clock") {
    Watched watched(2s);
    watched.execution.set_pending(1);
    watched.execution.set_pending(2);
    watched.clock.advance(10s);
    watched.execution.set_pending(1);
    watched.clock.advance(10s);
    CHECK_FALSE(watched.reached);
    watched.execution.set_pending(0);
    watched.clock.advance(2s);
    CHECK(watched.reached);
    CHECK(watched.execution.waited() == 20s);
}

TEST_CASE("a prompt of the code stops the clock, also beside an approval") {
    Watched watched(2s);
    watched.execution.begin_prompt();
    watched.execution.set_pending(1);
    watched.clock.advance(10s);
    watched.execution.set_pending(0);
    watched.execution.begin_prompt(); // in place of the first
    watched.execution.end_prompt();
    watched.clock.advance(10s);
    CHECK_FALSE(watched.reached);
    watched.execution.end_prompt();
    watched.clock.advance(2s);
    CHECK(watched.reached);
    CHECK(watched.execution.waited() == 20s);
}

TEST_CASE("an approval that is pending when the execution ends counts up to then") {
    Watched watched(2s);
    watched.execution.set_pending(1);
    watched.clock.advance(3s);
    watched.execution.stop();
    watched.clock.advance(5s);
    watched.execution.set_pending(0);
    CHECK(watched.execution.waited() == 3s);
    CHECK(watched.execution.total() == 3s);
}

TEST_CASE("an execution that never started took no time") {
    FakeClock clock;
    ExecutionClock execution(clock);
    clock.advance(5s);
    execution.stop();
    CHECK(execution.total() == Duration{});
}
