#include "attendance.hpp"
#include "base/fake_clock.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace cellgate;
using namespace std::chrono_literals;

namespace {

struct House {
    House() { tasks.spawn(watch()); }
    ~House() { tasks.cancel(); }
    Task<void> watch() {
        attendance.expect(30s);
        co_await attendance.over();
        over = true;
    }

    FakeClock clock;
    service::Attendance attendance{clock};
    bool over = false;
    TaskScope tasks;
};

} // namespace

TEST_CASE("the first client is waited for, and not for ever") {
    House house;
    house.clock.advance(29s);
    CHECK_FALSE(house.over);
    house.clock.advance(1s);
    CHECK(house.over);
}

TEST_CASE("a client that says goodbye is not waited for, the last one ends it") {
    House house;
    house.attendance.joined();
    house.attendance.joined();
    house.clock.advance(1h);
    house.attendance.left(0s);
    CHECK_FALSE(house.over);
    house.attendance.left(0s);
    CHECK(house.over);
}

TEST_CASE("one who vanished is waited for, also while others come and go") {
    House house;
    house.attendance.joined();
    house.attendance.left(600s);
    house.clock.advance(500s);
    house.attendance.joined();
    house.attendance.left(0s);
    CHECK_FALSE(house.over);
    CHECK(house.attendance.expected_for() == 100s);
    house.clock.advance(99s);
    CHECK_FALSE(house.over);
    house.clock.advance(1s);
    CHECK(house.over);
}

TEST_CASE("of two who vanished the longest wait holds") {
    House house;
    house.attendance.joined();
    house.attendance.joined();
    house.attendance.left(600s);
    house.attendance.left(10s);
    CHECK(house.attendance.expected_for() == 600s);
}

TEST_CASE("whoever comes back is the one who was waited for") {
    House house;
    house.attendance.joined();
    house.attendance.left(600s);
    house.attendance.joined();
    house.attendance.expect_nobody();
    house.attendance.left(0s);
    CHECK(house.over);
}

TEST_CASE("while a cell runs the wait does not end, and afterwards it is as long again") {
    House house;
    house.attendance.joined();
    house.attendance.execution_began();
    house.attendance.left(600s);
    house.clock.advance(1h);
    CHECK_FALSE(house.over);
    house.attendance.execution_ended();
    house.clock.advance(599s);
    CHECK_FALSE(house.over);
    house.clock.advance(1s);
    CHECK(house.over);
}

TEST_CASE("what runs for a client that said goodbye keeps nothing alive") {
    House house;
    house.attendance.joined();
    house.attendance.execution_began();
    house.attendance.left(0s);
    CHECK(house.over);
}

TEST_CASE("draining waits for clients and cells, and for nobody to come back") {
    House house;
    house.attendance.joined();
    house.attendance.execution_began();
    house.attendance.drain();
    house.attendance.left(600s);
    CHECK_FALSE(house.over);
    house.attendance.execution_ended();
    CHECK(house.over);
}
