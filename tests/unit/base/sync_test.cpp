#include "base/fake_clock.hpp"
#include "base/scope_exit.hpp"
#include "base/sync.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace cellgate;

namespace {

Task<void> hold(Mutex* mutex, Event* until, std::vector<std::string>* log, std::string name) {
    const Mutex::Lock lock = co_await mutex->lock();
    log->push_back(name + " in");
    co_await until->wait();
    log->push_back(name + " out");
}

Task<void> note(std::vector<std::string>* log, std::string what) {
    log->push_back(std::move(what));
    co_return;
}

Task<void> wait_for(Event* event) {
    co_await event->wait();
}

Task<int> wait_then(Event* event, int value) {
    co_await event->wait();
    co_return value;
}

Task<int> fail() {
    throw Error(ErrorCode::internal_error, "it fails");
    co_return 0;
}

Task<void> wait_for_count(Condition* condition, const int* count, int wanted, bool* done) {
    const auto reached = [count, wanted] { return *count >= wanted; };
    co_await condition->until(reached);
    *done = true;
}

Task<void> finish(Event* event, std::vector<std::string>* log) {
    const int value = co_await finally(wait_then(event, 3), note(log, "cleaned up"));
    log->push_back(std::to_string(value));
}

Task<void> finish_failing(std::vector<std::string>* log) {
    try {
        co_await finally(fail(), note(log, "cleaned up"));
    } catch (const Error& error) {
        log->push_back(error.message);
    }
}

Task<void> finish_or_undo(Event* event, std::vector<std::string>* log) {
    const int value = co_await on_failure(wait_then(event, 4), note(log, "undone"));
    log->push_back(std::to_string(value));
}

Task<void> guarded(Event* event, std::vector<std::string>* log) {
    const ScopeExit left([log] { log->push_back("left"); });
    co_await event->wait();
}

Task<void> end_all(TaskScope* scope, bool* ended) {
    co_await cancel_and_join(*scope);
    *ended = true;
}

Task<void> limit(Clock* clock, Event* event, std::optional<int>* result, bool* ended) {
    *result = co_await with_timeout(*clock, std::chrono::seconds(5), wait_then(event, 7));
    *ended = true;
}

Task<void> limit_wait(Clock* clock, Event* event, std::optional<bool>* in_time) {
    *in_time = co_await with_timeout(*clock, std::chrono::seconds(5), wait_for(event));
}

} // namespace

TEST_CASE("a mutex lets one in at a time, in the order in which they came") {
    Mutex mutex;
    Event first;
    Event second;
    std::vector<std::string> log;
    TaskScope scope;
    scope.spawn(hold(&mutex, &first, &log, "a"));
    scope.spawn(hold(&mutex, &second, &log, "b"));
    scope.spawn(hold(&mutex, &second, &log, "c"));
    CHECK(log == std::vector<std::string>{"a in"});
    CHECK(mutex.waiting() == 2);
    second.set();
    CHECK(log.size() == 1);
    first.set();
    CHECK(log == std::vector<std::string>{"a in", "a out", "b in", "b out", "c in", "c out"});
    CHECK(scope.running() == 0);
}

TEST_CASE("a waiter that is cancelled does not keep the mutex") {
    Mutex mutex;
    Event end;
    std::vector<std::string> log;
    TaskScope scope;
    scope.spawn(hold(&mutex, &end, &log, "a"));
    const std::shared_ptr<CancelState> second = scope.spawn(hold(&mutex, &end, &log, "b"));
    scope.spawn(hold(&mutex, &end, &log, "c"));
    second->cancel();
    CHECK(mutex.waiting() == 1);
    end.set();
    CHECK(log == std::vector<std::string>{"a in", "a out", "c in", "c out"});
}

TEST_CASE("a condition wakes who waits for it once it holds") {
    Condition condition;
    int count = 0;
    bool done = false;
    TaskScope scope;
    scope.spawn(wait_for_count(&condition, &count, 2, &done));
    count = 1;
    condition.notify();
    CHECK_FALSE(done);
    count = 2;
    condition.notify();
    CHECK(done);
}

TEST_CASE("finally cleans up after a result, an error and a cancellation") {
    std::vector<std::string> log;
    TaskScope scope;
    Event event;
    scope.spawn(finish(&event, &log));
    CHECK(log.empty());
    event.set();
    CHECK(log == std::vector<std::string>{"cleaned up", "3"});
    log.clear();
    scope.spawn(finish_failing(&log));
    CHECK(log == std::vector<std::string>{"cleaned up", "it fails"});
    log.clear();
    Event never;
    scope.spawn(finish(&never, &log))->cancel();
    CHECK(log == std::vector<std::string>{"cleaned up"});
    CHECK(scope.running() == 0);
}

TEST_CASE("on_failure cleans up after a cancellation, not after a result") {
    std::vector<std::string> log;
    TaskScope scope;
    Event event;
    SUBCASE("a result") {
        scope.spawn(finish_or_undo(&event, &log));
        event.set();
        CHECK(log == std::vector<std::string>{"4"});
    }
    SUBCASE("a cancellation") {
        scope.spawn(finish_or_undo(&event, &log))->cancel();
        CHECK(log == std::vector<std::string>{"undone"});
    }
    CHECK(scope.running() == 0);
}

TEST_CASE("a cleanup of a scope runs after a result and after a cancellation") {
    std::vector<std::string> log;
    TaskScope scope;
    Event event;
    const std::shared_ptr<CancelState> task = scope.spawn(guarded(&event, &log));
    CHECK(log.empty());
    SUBCASE("a result") {
        event.set();
    }
    SUBCASE("a cancellation") {
        task->cancel();
    }
    CHECK(log == std::vector<std::string>{"left"});
}

TEST_CASE("cancel_and_join returns once the cancelled tasks have cleaned up") {
    TaskScope tasks;
    TaskScope outer;
    Event never;
    Event cleaned;
    bool ended = false;
    tasks.spawn(finally(wait_for(&never), wait_for(&cleaned)));
    outer.spawn(end_all(&tasks, &ended));
    CHECK_FALSE(ended);
    cleaned.set();
    CHECK(ended);
}

TEST_CASE("a task that is not done in time is cancelled, one that is gives its result") {
    FakeClock clock;
    TaskScope scope;
    Event event;
    std::optional<int> result;
    bool ended = false;
    scope.spawn(limit(&clock, &event, &result, &ended));
    clock.advance(std::chrono::seconds(4));
    CHECK_FALSE(ended);
    SUBCASE("in time") {
        event.set();
        CHECK(ended);
        CHECK(result == 7);
    }
    SUBCASE("too late") {
        clock.advance(std::chrono::seconds(1));
        CHECK(ended);
        CHECK_FALSE(result);
    }
    SUBCASE("cancelled") {
        scope.cancel();
        CHECK_FALSE(ended);
    }
    CHECK(scope.running() == 0);
}

TEST_CASE("a task without a result says whether it ended in time") {
    FakeClock clock;
    TaskScope scope;
    Event event;
    std::optional<bool> in_time;
    scope.spawn(limit_wait(&clock, &event, &in_time));
    clock.advance(std::chrono::seconds(4));
    CHECK_FALSE(in_time);
    SUBCASE("in time") {
        event.set();
        CHECK(in_time == true);
    }
    SUBCASE("too late") {
        clock.advance(std::chrono::seconds(1));
        CHECK(in_time == false);
    }
    CHECK(scope.running() == 0);
}
