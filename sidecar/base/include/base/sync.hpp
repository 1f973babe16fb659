#pragma once
// `Mutex`, `Condition`, `finally()`, `on_failure()`, `with_timeout()` and `unless()` are for the coroutines of one
// thread, in addition to Event. For a cleanup that awaits nothing, a destructor will do: base/scope_exit.hpp.

#include "base/clock.hpp"
#include "base/task.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

namespace cellgate {

// `Mutex` lets one coroutine at a time go on; the others wait in the order in which they came. It must outlive its
// locks.
class Mutex {
  public:
    Mutex() = default;
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    class [[nodiscard]] Lock {
      public:
        Lock(Lock&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
        Lock& operator=(Lock&&) = delete;
        ~Lock() {
            if (mutex_ != nullptr) {
                mutex_->pass_on();
            }
        }

      private:
        friend class Mutex;
        explicit Lock(Mutex& mutex) : mutex_(&mutex) {}
        Mutex* mutex_;
    };

    // Throws Cancelled; a lock that had just become the waiter's is passed on then.
    Task<Lock> lock();
    std::size_t waiting() const { return waiting_.size(); }

  private:
    void pass_on();

    bool locked_ = false;
    std::deque<std::shared_ptr<Event>> waiting_;
};

// `Condition` wakes coroutines that wait for something to become true. notify() has each of them look again.
class Condition {
  public:
    // `holds` is a function object that the caller keeps alive, and is called at once and after each notify(). Where
    // several wait for a place that one of them takes, each looks again afterwards: it held when each was woken.
    template <class Predicate>
    Task<void> until(const Predicate& holds) {
        while (!holds()) {
            changed_.reset();
            co_await changed_.wait();
        }
    }
    void notify() { changed_.set(); }

  private:
    Event changed_;
};

// Event::wait() as a task. The event must outlive it.
inline Task<void> until_set(Event& event) {
    co_await event.wait();
}

// Awaits `body`, then `cleanup`, whichever way `body` ended; the cleanup does not see a cancellation. Returns or throws
// what `body` did, unless the cleanup throws.
template <class T>
Task<T> finally(Task<T> body, Task<void> cleanup) {
    std::exception_ptr error;
    std::optional<T> result;
    try {
        result.emplace(co_await std::move(body));
    } catch (...) {
        error = std::current_exception();
    }
    co_await shielded(std::move(cleanup));
    if (error) {
        std::rethrow_exception(error);
    }
    co_return std::move(*result);
}

inline Task<void> finally(Task<void> body, Task<void> cleanup) {
    std::exception_ptr error;
    try {
        co_await std::move(body);
    } catch (...) {
        error = std::current_exception();
    }
    co_await shielded(std::move(cleanup));
    if (error) {
        std::rethrow_exception(error);
    }
}

// Awaits `body`; if it throws, also `cleanup`, which does not see a cancellation. Returns or throws what `body` did,
// unless the cleanup throws.
template <class T>
Task<T> on_failure(Task<T> body, Task<void> cleanup) {
    std::exception_ptr error;
    try {
        co_return co_await std::move(body);
    } catch (...) {
        error = std::current_exception();
    }
    co_await shielded(std::move(cleanup));
    std::rethrow_exception(error);
}

// Cancels the tasks of `scope` and waits for them. Runs when it is awaited, and so can be a cleanup.
inline Task<void> cancel_and_join(TaskScope& scope) {
    scope.cancel();
    co_await scope.join();
}

namespace detail {

template <class T>
struct Outcome {
    Event ended;
    std::optional<T> value;
    std::exception_ptr error;
};

template <class T>
Task<void> run_into(Outcome<T>* outcome, Task<T> task) {
    try {
        outcome->value.emplace(co_await std::move(task));
    } catch (...) {
        outcome->error = std::current_exception();
    }
    outcome->ended.set();
}

} // namespace detail

// The result of `task`, or nothing when `limit` passed first: it is cancelled then, and has ended when this returns. If
// the caller is cancelled, so is the task.
template <class T>
Task<std::optional<T>> with_timeout(Clock& clock, Duration limit, Task<T> task) {
    detail::Outcome<T> outcome;
    TaskScope scope;
    scope.spawn(detail::run_into(&outcome, std::move(task)));
    bool in_time = false;
    std::exception_ptr cancelled;
    try {
        const Instant deadline = clock.now() + limit;
        in_time = co_await wait_until(clock, outcome.ended, deadline);
    } catch (const Cancelled&) {
        cancelled = std::current_exception();
    }
    scope.cancel();
    co_await shielded(scope.join());
    if (cancelled) {
        std::rethrow_exception(cancelled);
    }
    if (!in_time) {
        co_return std::nullopt;
    }
    if (outcome.error) {
        std::rethrow_exception(outcome.error);
    }
    co_return std::move(outcome.value);
}

namespace detail {

inline Task<void> cancel_when(Event* stop, std::shared_ptr<CancelState> running) {
    co_await stop->wait();
    running->cancel();
}

} // namespace detail

// The result of `task`, or nothing when `stop` was set first: it is cancelled then, and has ended when this returns. If
// the caller is cancelled, so is the task. `stop` must outlive it.
template <class T>
Task<std::optional<T>> unless(Event* stop, Task<T> task) {
    detail::Outcome<T> outcome;
    TaskScope scope;
    scope.spawn(detail::cancel_when(stop, scope.spawn(detail::run_into(&outcome, std::move(task)))));
    co_await finally(until_set(outcome.ended), cancel_and_join(scope));
    if (outcome.error && stop->is_set()) {
        co_return std::nullopt;
    }
    if (outcome.error) {
        std::rethrow_exception(outcome.error);
    }
    co_return std::move(outcome.value);
}

namespace detail {

inline Task<bool> then_true(Task<void> task) {
    co_await std::move(task);
    co_return true;
}

} // namespace detail

// The same for a task without a result: whether it ended in time.
inline Task<bool> with_timeout(Clock& clock, Duration limit, Task<void> task) {
    const std::optional<bool> ended = co_await with_timeout(clock, limit, detail::then_true(std::move(task)));
    co_return ended.has_value();
}

} // namespace cellgate
