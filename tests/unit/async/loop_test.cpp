#include "async/loop.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <thread>
#include <vector>

using namespace cellgate;
using cellgate::async::Loop;

namespace {

Task<void> do_nothing() {
    co_return;
}

Task<void> fail() {
    throw Error(ErrorCode::busy, "failed");
    co_return;
}

Task<void> sleep_in_turn(Loop* loop, std::vector<int>* order, int id, Duration duration) {
    co_await sleep_for(loop->clock(), duration);
    order->push_back(id);
}

Task<void> spawn_sleepers(Loop* loop, std::vector<int>* order) {
    TaskScope scope;
    scope.spawn(sleep_in_turn(loop, order, 2, std::chrono::milliseconds(20)));
    scope.spawn(sleep_in_turn(loop, order, 1, std::chrono::milliseconds(5)));
    scope.spawn(sleep_in_turn(loop, order, 0, Duration::zero()));
    co_await scope.join();
}

} // namespace

TEST_CASE("a loop runs its main task to the end, again and again") {
    Loop loop;
    loop.run(do_nothing());
    loop.run(do_nothing());
}

TEST_CASE("a loop rethrows what its main task threw") {
    Loop loop;
    CHECK_THROWS_AS(loop.run(fail()), Error);
}

TEST_CASE("sleepers wake in the order of their instants") {
    Loop loop;
    std::vector<int> order;
    loop.run(spawn_sleepers(&loop, &order));
    CHECK(order == std::vector<int>{0, 1, 2});
}
