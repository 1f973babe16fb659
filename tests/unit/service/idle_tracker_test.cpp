#include "base/fake_clock.hpp"
#include "idle_tracker.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace cellgate;
using namespace std::chrono_literals;

namespace {

// A tracker that so many clients have connected to.
struct Fixture {
    explicit Fixture(int clients) {
        tasks.spawn(watch());
        for (int i = 0; i < clients; ++i) {
            idle_tracker.client_connected();
        }
    }
    ~Fixture() { tasks.cancel(); }
    Task<void> watch() {
        idle_tracker.expect_reconnect(30s);
        co_await idle_tracker.wait_idle();
        idle = true;
    }

    FakeClock clock;
    service::IdleTracker idle_tracker{clock};
    bool idle = false;
    TaskScope tasks;
};

} // namespace

TEST_CASE("the first client is waited for, and not for ever") {
    Fixture fixture(0);
    fixture.clock.advance(29s);
    CHECK_FALSE(fixture.idle);
    fixture.clock.advance(1s);
    CHECK(fixture.idle);
}

TEST_CASE("a client that exits cleanly is not waited for, the last one ends it") {
    Fixture fixture(2);
    fixture.clock.advance(1h);
    fixture.idle_tracker.client_left(0s);
    CHECK_FALSE(fixture.idle);
    fixture.idle_tracker.client_left(0s);
    CHECK(fixture.idle);
}

TEST_CASE("a client that lost its connection is waited for, also while others connect and leave") {
    Fixture fixture(1);
    fixture.idle_tracker.client_left(600s);
    fixture.clock.advance(500s);
    fixture.idle_tracker.client_connected();
    fixture.idle_tracker.client_left(0s);
    CHECK_FALSE(fixture.idle);
    CHECK(fixture.idle_tracker.reconnect_remaining() == 100s);
    fixture.clock.advance(99s);
    CHECK_FALSE(fixture.idle);
    fixture.clock.advance(1s);
    CHECK(fixture.idle);
}

TEST_CASE("of two lost clients the longer wait holds") {
    Fixture fixture(2);
    fixture.idle_tracker.client_left(600s);
    fixture.idle_tracker.client_left(10s);
    CHECK(fixture.idle_tracker.reconnect_remaining() == 600s);
}

TEST_CASE("any client that connects satisfies a pending reconnect") {
    Fixture fixture(1);
    fixture.idle_tracker.client_left(600s);
    fixture.idle_tracker.client_connected();
    fixture.idle_tracker.cancel_reconnect();
    fixture.idle_tracker.client_left(0s);
    CHECK(fixture.idle);
}

TEST_CASE("while a cell runs the wait does not end, and afterwards it is as long again") {
    Fixture fixture(1);
    fixture.idle_tracker.execution_began();
    fixture.idle_tracker.client_left(600s);
    fixture.clock.advance(1h);
    CHECK_FALSE(fixture.idle);
    fixture.idle_tracker.execution_ended();
    fixture.clock.advance(599s);
    CHECK_FALSE(fixture.idle);
    fixture.clock.advance(1s);
    CHECK(fixture.idle);
}

TEST_CASE("an execution of a client that exited cleanly keeps nothing alive") {
    Fixture fixture(1);
    fixture.idle_tracker.execution_began();
    fixture.idle_tracker.client_left(0s);
    CHECK(fixture.idle);
}

TEST_CASE("draining waits for clients and cells, not for a reconnect") {
    Fixture fixture(1);
    fixture.idle_tracker.execution_began();
    fixture.idle_tracker.drain();
    fixture.idle_tracker.client_left(600s);
    CHECK_FALSE(fixture.idle);
    fixture.idle_tracker.execution_ended();
    CHECK(fixture.idle);
}
