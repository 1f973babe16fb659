#pragma once
// `Task<T>` is a lazy coroutine: it runs when it is awaited, and its awaiter owns it. All coroutines of a thread run
// from one ready queue, so resuming never nests: the waiters of an Event that is set run after the current coroutine
// has suspended, and a million awaits that complete at once use no stack. Cancellation is structured. A task that a
// TaskScope spawned carries a CancelState; every task that it awaits shares it. When it is cancelled, the innermost
// wait resumes by throwing Cancelled, and so does every later wait, except inside shielded(). A suspended coroutine is
// never destroyed: it is cancelled and runs to its end.

#include "base/error.hpp"

#include <coroutine>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace cellgate {

// Runs `handle` from this thread's ready queue: at once when nothing runs, else after the running coroutine has
// suspended.
void schedule(std::coroutine_handle<> handle);

// A wait that a cancellation can end.
class CancelHook {
  public:
    CancelHook() = default;
    CancelHook(const CancelHook&) = delete;
    CancelHook& operator=(const CancelHook&) = delete;
    virtual void on_cancel() = 0;

  protected:
    ~CancelHook() = default;
};

// Shared by a spawned task and all tasks that it awaits; at most one of them is suspended in a wait.
class CancelState {
  public:
    bool cancelled() const { return cancelled_; }
    // Idempotent. Ends the current wait, if any. The task may have ended when this returns.
    void cancel() {
        cancelled_ = true;
        if (CancelHook* hook = std::exchange(waiting_, nullptr)) {
            hook->on_cancel();
        }
    }
    void set_waiting(CancelHook* hook) { waiting_ = hook; }

  private:
    bool cancelled_ = false;
    CancelHook* waiting_ = nullptr;
};

// A flag that coroutines wait for. set() wakes all waiters and stays set until reset(). Destroying an Event wakes its
// waiters with Cancelled.
class Event {
  public:
    Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event();

    void set();
    void reset() { is_set_ = false; }
    bool is_set() const { return is_set_; }

    class Wait final : public CancelHook {
      public:
        explicit Wait(Event& event) : event_(&event) {}
        bool await_ready() const noexcept { return false; }
        template <class Promise>
        bool await_suspend(std::coroutine_handle<Promise> handle) {
            return suspend(handle, handle.promise().cancel);
        }
        void await_resume() const;

      private:
        friend class Event;
        bool suspend(std::coroutine_handle<> handle, CancelState* cancel);
        void on_cancel() override;
        std::coroutine_handle<> unlink();

        Event* event_;
        std::coroutine_handle<> handle_;
        CancelState* cancel_ = nullptr;
        Wait* previous_ = nullptr;
        Wait* next_ = nullptr;
        bool cancelled_ = false;
    };

    Wait wait() { return Wait(*this); }

  private:
    Wait* first_ = nullptr;
    Wait* last_ = nullptr;
    bool is_set_ = false;
};

namespace detail {

struct PromiseBase {
    std::coroutine_handle<> continuation;
    CancelState* cancel = nullptr;
    bool starting = false;
    std::exception_ptr error;

    struct FinalAwaiter {
        bool await_ready() const noexcept { return false; }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> handle) const noexcept {
            PromiseBase& promise = handle.promise();
            if (!promise.starting) {
                schedule(promise.continuation);
            }
        }
        void await_resume() const noexcept {}
    };

    std::suspend_always initial_suspend() const noexcept { return {}; }
    FinalAwaiter final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { error = std::current_exception(); }
};

template <class T>
struct TaskPromise;

} // namespace detail

template <class T>
class [[nodiscard]] Task {
  public:
    using promise_type = detail::TaskPromise<T>;
    using Handle = std::coroutine_handle<promise_type>;

    explicit Task(Handle handle) : handle_(handle) {}
    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Task& operator=(Task&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Task() {
        if (handle_) {
            handle_.destroy();
        }
    }

    struct Awaiter {
        Handle child;
        bool shielded;
        bool await_ready() const noexcept { return false; }
        template <class Promise>
        bool await_suspend(std::coroutine_handle<Promise> parent) {
            promise_type& promise = child.promise();
            promise.cancel = shielded ? nullptr : parent.promise().cancel;
            promise.continuation = parent;
            promise.starting = true;
            child.resume();
            promise.starting = false;
            return !child.done();
        }
        T await_resume() { return child.promise().take(); }
    };

    Awaiter operator co_await() && { return Awaiter{handle_, false}; }

    // Awaits like the task itself, but the task does not see its awaiter's cancellation: for work that must complete.
    struct Shielded {
        Task task;
        Awaiter operator co_await() && { return Awaiter{task.handle_, true}; }
    };

  private:
    Handle handle_;
};

template <class T>
typename Task<T>::Shielded shielded(Task<T> task) {
    return typename Task<T>::Shielded{std::move(task)};
}

namespace detail {

template <class T>
struct TaskPromise : PromiseBase {
    std::optional<T> value;
    Task<T> get_return_object() { return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this)); }
    template <class U>
    void return_value(U&& result) {
        value.emplace(std::forward<U>(result));
    }
    T take() {
        if (error) {
            std::rethrow_exception(error);
        }
        return std::move(*value);
    }
};

template <>
struct TaskPromise<void> : PromiseBase {
    Task<void> get_return_object() { return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this)); }
    void return_void() const noexcept {}
    void take() const {
        if (error) {
            std::rethrow_exception(error);
        }
    }
};

} // namespace detail

// `TaskScope` owns tasks that are not awaited one by one. It must be empty when it is destroyed: cancel() and join()
// first, or the process aborts. An exception that leaves a task is passed to `on_error` (except Cancelled).
class TaskScope {
  public:
    using OnError = std::function<void(std::exception_ptr)>;

    // Without `on_error`, the error is logged.
    explicit TaskScope(OnError on_error = {});
    TaskScope(const TaskScope&) = delete;
    TaskScope& operator=(const TaskScope&) = delete;
    ~TaskScope();

    // Starts the task from the ready queue. The returned state cancels this one task.
    std::shared_ptr<CancelState> spawn(Task<void> task);
    // Cancels every running task.
    void cancel();
    // Waits until no task runs; cancels none.
    Task<void> join();
    std::size_t running() const;

  private:
    struct Root;
    static Root run(TaskScope* scope, Task<void> task, std::shared_ptr<CancelState> cancel);
    void finished(const std::shared_ptr<CancelState>& cancel);

    struct Members;
    std::unique_ptr<Members> members_;
};

// `Deferred` is a value that arrives once, for one awaiter. It may be destroyed as soon as it is settled; destroyed
// unsettled, it rejects with Cancelled.
template <class T>
class Deferred {
  public:
    Deferred() : state_(std::make_shared<State>()) {}
    Deferred(const Deferred&) = delete;
    Deferred& operator=(const Deferred&) = delete;
    ~Deferred() { reject(std::make_exception_ptr(Cancelled())); }

    void resolve(T value) {
        if (!settled()) {
            state_->value.emplace(std::move(value));
            settle();
        }
    }
    void reject(std::exception_ptr error) {
        if (!settled()) {
            state_->error = std::move(error);
            settle();
        }
    }
    bool settled() const { return state_->event.is_set(); }

    Task<T> get() { return wait(state_); }

  private:
    struct State {
        Event event;
        std::optional<T> value;
        std::exception_ptr error;
    };

    // A woken awaiter may destroy this Deferred.
    void settle() {
        const std::shared_ptr<State> state = state_;
        state->event.set();
    }

    static Task<T> wait(std::shared_ptr<State> state) {
        co_await state->event.wait();
        if (state->error) {
            std::rethrow_exception(state->error);
        }
        co_return std::move(*state->value);
    }

    std::shared_ptr<State> state_;
};

} // namespace cellgate
