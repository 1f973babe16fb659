#include "base/clock.hpp"
#include "base/fake_clock.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

using namespace cellgate;
using namespace std::chrono_literals;

namespace {

Task<void> sleep_and_log(Clock* clock, Duration duration, std::vector<std::string>* log, std::string name) {
    const Instant start = clock->now();
    try {
        co_await sleep_for(*clock, duration);
        log->push_back(name + " after " + std::to_string((clock->now() - start) / 1s));
    } catch (const Cancelled&) {
        log->push_back(name + " cancelled");
    }
}

Task<void> sleep_twice(Clock* clock, int* steps) {
    co_await sleep_for(*clock, 1s);
    ++*steps;
    co_await sleep_for(*clock, 1s);
    ++*steps;
}

} // namespace

TEST_CASE("the fake clock moves only by advance(), and wakes sleepers in the order of their instants") {
    FakeClock clock;
    TaskScope scope;
    std::vector<std::string> log;
    scope.spawn(sleep_and_log(&clock, 3s, &log, "late"));
    scope.spawn(sleep_and_log(&clock, 1s, &log, "early"));
    scope.spawn(sleep_and_log(&clock, 0s, &log, "now"));
    CHECK(log == std::vector<std::string>{"now after 0"});
    CHECK(clock.sleepers() == 2);
    const WallTime wall = clock.wall();
    clock.advance(999ms);
    CHECK(log.size() == 1);
    clock.advance(10s);
    CHECK(log == std::vector<std::string>{"now after 0", "early after 1", "late after 3"});
    CHECK(clock.wall() - wall == 10'999ms);
    CHECK(clock.sleepers() == 0);
}

TEST_CASE("one move of the clock takes a task through several sleeps") {
    FakeClock clock;
    TaskScope scope;
    int steps = 0;
    scope.spawn(sleep_twice(&clock, &steps));
    clock.advance(1s);
    CHECK(steps == 1);
    clock.advance(1s);
    CHECK(steps == 2);
    scope.spawn(sleep_twice(&clock, &steps));
    clock.advance(2s);
    CHECK(steps == 4);
}

TEST_CASE("a sleeper that is cancelled leaves the clock") {
    FakeClock clock;
    TaskScope scope;
    std::vector<std::string> log;
    const auto sleeper = scope.spawn(sleep_and_log(&clock, 3s, &log, "a"));
    scope.spawn(sleep_and_log(&clock, 5s, &log, "b"));
    sleeper->cancel();
    CHECK(log == std::vector<std::string>{"a cancelled"});
    CHECK(clock.sleepers() == 1);
    clock.advance(5s);
    CHECK(log == std::vector<std::string>{"a cancelled", "b after 5"});
}

TEST_CASE("seconds of the protocol become the longest duration where none could hold them") {
    CHECK(from_seconds(0.25) == 250ms);
    CHECK(from_seconds(0) == Duration::zero());
    CHECK(from_seconds(-1) == Duration::zero());
    CHECK(from_seconds(1e300) == from_seconds(std::numeric_limits<double>::infinity()));
    CHECK(from_seconds(1e300) > 24h * 365);
    // Far from where adding it to a present would overflow.
    CHECK(Instant::clock::now() + from_seconds(1e300) > Instant::clock::now());
    CHECK(to_seconds(1500ms) == doctest::Approx(1.5));
}
