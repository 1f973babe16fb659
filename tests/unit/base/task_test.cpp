#include "base/clock.hpp"
#include "base/fake_clock.hpp"
#include "base/task.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace cellgate;

namespace {

constexpr int many = 1'000'000;

struct Depth {
    std::uintptr_t lowest = UINTPTR_MAX;
    std::uintptr_t highest = 0;

    void note() {
        const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        lowest = std::min(lowest, here);
        highest = std::max(highest, here);
    }
    std::uintptr_t spread() const { return highest - lowest; }
};

constexpr std::uintptr_t max_spread = 4096;

Task<int> at_once(int value, Depth* depth) {
    depth->note();
    co_return value;
}

Task<void> await_many_tasks(std::int64_t* sum, Depth* depth) {
    for (int i = 0; i < many; ++i) {
        *sum += co_await at_once(1, depth);
    }
}

Task<void> await_many_set_events(Event* event, Depth* depth) {
    for (int i = 0; i < many; ++i) {
        co_await event->wait();
        depth->note();
    }
}

Task<int> after(Event* mine, Event* other, Depth* depth) {
    other->set();
    co_await mine->wait();
    mine->reset();
    depth->note();
    co_return 1;
}

Task<void> play(Event* mine, Event* other, std::int64_t* turns, Depth* depth) {
    for (int i = 0; i < many; ++i) {
        *turns += co_await after(mine, other, depth);
    }
    other->set();
}

Task<void> hand_on(Event* mine, Event* next, Depth* depth) {
    co_await mine->wait();
    depth->note();
    next->set();
}

Task<void> await_many_deferred(Depth* depth) {
    for (int i = 0; i < many; ++i) {
        Deferred<int> deferred;
        deferred.resolve(i);
        co_await deferred.get();
        depth->note();
    }
}

Task<void> wait_and_log(Event* event, std::vector<std::string>* log, std::string name) {
    try {
        co_await event->wait();
        log->push_back(name);
    } catch (const Cancelled&) {
        log->push_back(name + " cancelled");
    }
}

Task<void> set_and_log(Event* event, std::vector<std::string>* log) {
    event->set();
    log->push_back("set");
    co_return;
}

Task<int> throw_after(Event* event, bool wait) {
    if (wait) {
        co_await event->wait();
    }
    throw Error(ErrorCode::denied, "no");
}

Task<int> pass_on(Task<int> inner, bool* cleaned) {
    struct Cleaner {
        bool* cleaned;
        ~Cleaner() { *cleaned = true; }
    };
    const Cleaner cleaner{cleaned};
    const int value = co_await std::move(inner);
    co_return value + 1;
}

Task<void> keep_error(Task<int> task, std::string* message) {
    try {
        co_await std::move(task);
    } catch (const Error& error) {
        *message = error.message;
    }
}

Task<void> keep_value(Task<int> task, int* value) {
    *value = co_await std::move(task);
}

Task<void> just_wait(Event* event) {
    co_await event->wait();
}

Task<void> wait_twice(Event* first, Event* second, std::vector<std::string>* log) {
    co_await wait_and_log(first, log, "first");
    co_await wait_and_log(second, log, "second");
}

Task<void> wait_shielded(Event* first, Event* second, std::vector<std::string>* log) {
    co_await shielded(wait_and_log(first, log, "shielded"));
    co_await wait_and_log(second, log, "after");
}

Task<void> fail_with(ErrorCode code) {
    throw Error(code, "failed");
    co_return;
}

Task<void> join_and_log(TaskScope* scope, std::vector<std::string>* log) {
    try {
        co_await scope->join();
        log->push_back("joined");
    } catch (const Cancelled&) {
        log->push_back("join cancelled");
    }
}

struct LogsItsEnd {
    std::vector<std::string>* log;
    explicit LogsItsEnd(std::vector<std::string>* log_) : log(log_) {}
    LogsItsEnd(const LogsItsEnd&) = delete;
    LogsItsEnd& operator=(const LogsItsEnd&) = delete;
    ~LogsItsEnd() { log->push_back("frame ended"); }
};

Task<void> hold(std::unique_ptr<LogsItsEnd> held, Event* event) {
    co_await event->wait();
    held->log->push_back("task ended");
}

Task<void> wait_with_deadline(Clock* clock, Event* event, std::optional<Instant> deadline, std::string* outcome) {
    try {
        const bool set = co_await wait_until(*clock, *event, deadline);
        *outcome = set ? "event" : "deadline";
    } catch (const Cancelled&) {
        *outcome = "cancelled";
    }
}

} // namespace

TEST_CASE("a million awaits of tasks that complete at once use no stack") {
    std::int64_t sum = 0;
    Depth depth;
    TaskScope scope;
    scope.spawn(await_many_tasks(&sum, &depth));
    CHECK(sum == many);
    CHECK(depth.spread() < max_spread);
}

TEST_CASE("a million awaits of a set event use no stack") {
    Event event;
    event.set();
    Depth depth;
    TaskScope scope;
    scope.spawn(await_many_set_events(&event, &depth));
    CHECK(scope.running() == 0);
    CHECK(depth.spread() < max_spread);
}

TEST_CASE("two tasks that wake each other a million times use no stack") {
    Event left;
    Event right;
    std::int64_t turns = 0;
    Depth depth;
    TaskScope scope;
    scope.spawn(play(&left, &right, &turns, &depth));
    scope.spawn(play(&right, &left, &turns, &depth));
    CHECK(turns == 2 * std::int64_t{many});
    CHECK(depth.spread() < max_spread);
}

TEST_CASE("a long chain of tasks that wake one another uses no stack") {
    constexpr int links = 100'000;
    std::vector<Event> events(links + 1);
    Depth depth;
    TaskScope scope;
    for (int i = 0; i < links; ++i) {
        scope.spawn(hand_on(&events[i], &events[i + 1], &depth));
    }
    events.front().set();
    CHECK(events.back().is_set());
    CHECK(depth.spread() < max_spread);
}

TEST_CASE("a million awaits of deferred values use no stack") {
    Depth depth;
    TaskScope scope;
    scope.spawn(await_many_deferred(&depth));
    CHECK(scope.running() == 0);
    CHECK(depth.spread() < max_spread);
}

TEST_CASE("an event wakes its waiters in order, after the one that set it") {
    Event event;
    std::vector<std::string> log;
    TaskScope scope;
    scope.spawn(wait_and_log(&event, &log, "a"));
    scope.spawn(wait_and_log(&event, &log, "b"));
    CHECK(log.empty());
    scope.spawn(set_and_log(&event, &log));
    CHECK(log == std::vector<std::string>{"set", "a", "b"});
}

TEST_CASE("an event that was reset makes the next one wait") {
    Event event;
    event.set();
    event.reset();
    std::vector<std::string> log;
    TaskScope scope;
    scope.spawn(wait_and_log(&event, &log, "a"));
    CHECK(log.empty());
    event.set();
    CHECK(log == std::vector<std::string>{"a"});
}

TEST_CASE("waiters of an event that goes away resume with Cancelled") {
    auto event = std::make_unique<Event>();
    std::vector<std::string> log;
    TaskScope scope;
    scope.spawn(wait_and_log(event.get(), &log, "a"));
    scope.spawn(wait_and_log(event.get(), &log, "b"));
    event.reset();
    CHECK(log == std::vector<std::string>{"a cancelled", "b cancelled"});
}

TEST_CASE("an exception passes through tasks and ends what they hold") {
    for (const bool wait : {false, true}) {
        CAPTURE(wait);
        Event event;
        bool inner_cleaned = false;
        bool outer_cleaned = false;
        std::string message;
        TaskScope scope;
        scope.spawn(keep_error(pass_on(pass_on(throw_after(&event, wait), &inner_cleaned), &outer_cleaned), &message));
        CHECK(message.empty() == wait);
        event.set();
        CHECK(message == "no");
        CHECK(inner_cleaned);
        CHECK(outer_cleaned);
    }
}

TEST_CASE("a value passes through tasks") {
    Depth depth;
    bool cleaned = false;
    int value = 0;
    TaskScope scope;
    scope.spawn(keep_value(pass_on(at_once(41, &depth), &cleaned), &value));
    CHECK(value == 42);
}

TEST_CASE("a task that is not awaited never runs") {
    Depth depth;
    {
        const Task<int> task = at_once(1, &depth);
    }
    CHECK(depth.highest == 0);
}

TEST_CASE("cancelling ends the present wait and every later one, set or not") {
    Event first;
    Event second;
    std::vector<std::string> log;
    TaskScope scope;
    const std::shared_ptr<CancelState> task = scope.spawn(wait_twice(&first, &second, &log));
    second.set();
    task->cancel();
    CHECK(log == std::vector<std::string>{"first cancelled", "second cancelled"});
    CHECK(scope.running() == 0);
    first.set(); // the wait has left the event
    task->cancel();
}

TEST_CASE("a cancelled task leaves the waiters beside it alone") {
    Event event;
    std::vector<std::string> log;
    TaskScope scope;
    scope.spawn(wait_and_log(&event, &log, "a"));
    const std::shared_ptr<CancelState> middle = scope.spawn(wait_and_log(&event, &log, "b"));
    scope.spawn(wait_and_log(&event, &log, "c"));
    middle->cancel();
    event.set();
    CHECK(log == std::vector<std::string>{"b cancelled", "a", "c"});
}

TEST_CASE("a shielded task does not see the cancellation; what follows it does") {
    Event first;
    Event second;
    std::vector<std::string> log;
    TaskScope scope;
    const std::shared_ptr<CancelState> task = scope.spawn(wait_shielded(&first, &second, &log));
    task->cancel();
    CHECK(log.empty());
    first.set();
    CHECK(log == std::vector<std::string>{"shielded", "after cancelled"});
}

TEST_CASE("a scope passes errors to its handler, and ignores cancellation") {
    std::vector<ErrorCode> errors;
    TaskScope scope([&errors](std::exception_ptr error) {
        try {
            std::rethrow_exception(error);
        } catch (const Error& caught) {
            errors.push_back(caught.code);
        }
    });
    Event event;
    scope.spawn(fail_with(ErrorCode::denied));
    scope.spawn(just_wait(&event));
    scope.cancel();
    CHECK(scope.running() == 0);
    CHECK(errors == std::vector<ErrorCode>{ErrorCode::denied});
}

TEST_CASE("joining a scope waits for its tasks and all that they own") {
    std::vector<std::string> log;
    Event event;
    TaskScope scope;
    TaskScope joiners;
    scope.spawn(hold(std::make_unique<LogsItsEnd>(&log), &event));
    joiners.spawn(join_and_log(&scope, &log));
    CHECK(log.empty());
    event.set();
    CHECK(log == std::vector<std::string>{"task ended", "frame ended", "joined"});
}

TEST_CASE("a join that is cancelled ends no task") {
    std::vector<std::string> log;
    Event event;
    TaskScope scope;
    TaskScope joiners;
    scope.spawn(just_wait(&event));
    joiners.spawn(join_and_log(&scope, &log));
    joiners.cancel();
    CHECK(log == std::vector<std::string>{"join cancelled"});
    CHECK(scope.running() == 1);
    event.set();
    CHECK(scope.running() == 0);
}

TEST_CASE("a scope that goes away with running tasks aborts the process") {
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(STDERR_FILENO);
        ::signal(SIGABRT, SIG_DFL);
        Event event;
        {
            TaskScope scope;
            scope.spawn(just_wait(&event));
        }
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGABRT);
}

TEST_CASE("waiting with a deadline ends with what comes first") {
    FakeClock clock;
    Event event;
    std::string outcome;
    TaskScope scope;
    const Instant deadline = clock.now() + std::chrono::seconds(10);

    SUBCASE("the event") {
        scope.spawn(wait_with_deadline(&clock, &event, deadline, &outcome));
        clock.advance(std::chrono::seconds(9));
        CHECK(outcome.empty());
        event.set();
        CHECK(outcome == "event");
    }
    SUBCASE("the event, though it was reset at once") {
        scope.spawn(wait_with_deadline(&clock, &event, deadline, &outcome));
        event.set();
        event.reset();
        CHECK(outcome == "event");
    }
    SUBCASE("the deadline") {
        scope.spawn(wait_with_deadline(&clock, &event, deadline, &outcome));
        clock.advance(std::chrono::seconds(10));
        CHECK(outcome == "deadline");
    }
    SUBCASE("a cancellation") {
        scope.spawn(wait_with_deadline(&clock, &event, deadline, &outcome));
        scope.cancel();
        CHECK(outcome == "cancelled");
    }
    SUBCASE("the end of the event") {
        auto short_lived = std::make_unique<Event>();
        scope.spawn(wait_with_deadline(&clock, short_lived.get(), deadline, &outcome));
        short_lived.reset();
        CHECK(outcome == "cancelled");
    }
    SUBCASE("without a deadline, only the event") {
        scope.spawn(wait_with_deadline(&clock, &event, std::nullopt, &outcome));
        clock.advance(std::chrono::hours(1000));
        CHECK(outcome.empty());
        event.set();
        CHECK(outcome == "event");
    }
    CHECK(scope.running() == 0);
    CHECK(clock.sleepers() == 0);
}
