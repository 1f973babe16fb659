#include "async/busy_poll.hpp"
#include "async/loop.hpp"
#include "async/stream.hpp"

#include <doctest/doctest.h>
#include <uv.h>

#include <atomic>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace cellgate;
using namespace cellgate::async;

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

Task<void> sleep_precisely(Loop* loop) {
    for (int i = 0; i < 20; ++i) {
        const Instant until = loop->clock().now() + std::chrono::microseconds(300 * i);
        co_await loop->clock().sleep_until(until);
        CHECK(loop->clock().now() >= until);
    }
}

Task<void> cancel_a_sleeper(Loop* loop) {
    TaskScope scope;
    scope.spawn(sleep_for(loop->clock(), std::chrono::hours(1)));
    scope.cancel();
    co_await scope.join();
}

Task<void> take_turns(Loop* loop, std::string* log, char name) {
    for (int i = 0; i < 3; ++i) {
        *log += name;
        co_await loop->yield();
    }
}

Task<void> two_take_turns(Loop* loop, std::string* log) {
    TaskScope scope;
    scope.spawn(take_turns(loop, log, 'a'));
    scope.spawn(take_turns(loop, log, 'b'));
    co_await scope.join();
}

Task<void> yield_until(Loop* loop, const bool* done) {
    while (!*done) {
        co_await loop->yield();
    }
}

Task<void> set_later(Loop* loop, bool* done) {
    co_await sleep_for(loop->clock(), std::chrono::milliseconds(2));
    *done = true;
}

Task<void> yield_beside_a_timer(Loop* loop) {
    bool done = false;
    TaskScope scope;
    scope.spawn(set_later(loop, &done));
    scope.spawn(yield_until(loop, &done));
    co_await scope.join();
}

Task<void> work_elsewhere(Loop* loop) {
    const std::thread::id here = std::this_thread::get_id();
    auto work = [] { return std::this_thread::get_id(); };
    const std::thread::id there = co_await loop->run_blocking(work);
    CHECK(there != here);
    CHECK(std::this_thread::get_id() == here);
    bool done = false;
    auto quiet = [&done] { done = true; };
    co_await loop->run_blocking(quiet);
    CHECK(done);
    std::string message;
    auto failing = []() -> int { throw Error(ErrorCode::store_failed, "no space"); };
    try {
        co_await loop->run_blocking(failing);
    } catch (const Error& error) {
        message = error.message;
    }
    CHECK(message == "no space");
}

Task<void> long_work(Loop* loop, std::shared_ptr<std::atomic<bool>> may_end, bool* ended) {
    auto work = [may_end] {
        while (!*may_end) {
            std::this_thread::yield();
        }
    };
    co_await loop->run_blocking(work);
    *ended = true;
}

Task<void> cancel_work(Loop* loop) {
    auto may_end = std::make_shared<std::atomic<bool>>(false);
    bool ended = false;
    TaskScope scope;
    scope.spawn(long_work(loop, may_end, &ended));
    scope.cancel();
    CHECK(scope.running() == 1);
    *may_end = true;
    co_await scope.join();
    CHECK(ended);
}

Task<void> raise_signal(int signal) {
    ::raise(signal);
    co_return;
}

Task<void> wait_for_one_signal(Loop* loop) {
    TaskScope scope;
    scope.spawn(wait_for_signal(*loop, SIGWINCH));
    scope.spawn(wait_for_signal(*loop, SIGWINCH));
    scope.spawn(raise_signal(SIGWINCH));
    co_await scope.join();
    scope.spawn(wait_for_signal(*loop, SIGTERM));
    scope.cancel();
    co_await scope.join();
}

// How many ask the loop not to sleep.
int sleepless(Loop* loop) {
    int count = 0;
    uv_walk(
        loop->raw(),
        [](uv_handle_t* handle, void* counter) {
            *static_cast<int*>(counter) += handle->type == UV_IDLE && uv_is_active(handle) != 0 ? 1 : 0;
        },
        &count);
    return count;
}

Task<void> be_alert(Loop* loop) {
    BusyPoll busy_poll(*loop);
    CHECK(sleepless(loop) == 0);
    busy_poll.arm();
    CHECK(sleepless(loop) == (std::thread::hardware_concurrency() > 1 ? 1 : 0));
    while (sleepless(loop) > 0) {
        co_await sleep_for(loop->clock(), std::chrono::milliseconds(1));
    }
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
    loop.run(do_nothing());
}

TEST_CASE("a main task that waits for nothing aborts instead of hanging") {
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(STDERR_FILENO);
        ::execl(ASYNC_FIXTURE, ASYNC_FIXTURE, "deadlock", nullptr);
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGABRT);
}

TEST_CASE("sleepers wake in the order of their instants") {
    Loop loop;
    std::vector<int> order;
    loop.run(spawn_sleepers(&loop, &order));
    CHECK(order == std::vector<int>{0, 1, 2});
}

TEST_CASE("a sleeper never wakes early") {
    Loop loop;
    loop.run(sleep_precisely(&loop));
}

TEST_CASE("a sleeper that is cancelled does not hold the loop") {
    Loop loop;
    loop.run(cancel_a_sleeper(&loop));
}

TEST_CASE("tasks that yield take turns") {
    Loop loop;
    std::string log;
    loop.run(two_take_turns(&loop, &log));
    CHECK(log == "ababab");
}

TEST_CASE("a task that yields for ever does not starve timers") {
    Loop loop;
    loop.run(yield_beside_a_timer(&loop));
}

TEST_CASE("blocking work runs on another thread and brings back its value or its error") {
    Loop loop;
    loop.run(work_elsewhere(&loop));
}

TEST_CASE("cancelling the caller of run_blocking lets the work end first") {
    Loop loop;
    loop.run(cancel_work(&loop));
}

TEST_CASE("a signal wakes all that wait for it, and waiting can be cancelled") {
    Loop loop;
    loop.run(wait_for_one_signal(&loop));
}

TEST_CASE("an armed BusyPoll keeps the loop awake for its window, and not longer") {
    Loop loop;
    loop.run(be_alert(&loop));
}
