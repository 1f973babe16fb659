#include "base/task.hpp"

#include "base/log.hpp"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <unordered_set>
#include <vector>

namespace cellgate {

namespace {

struct ReadyQueue {
    std::deque<std::coroutine_handle<>> handles;
    bool running = false;
};

thread_local ReadyQueue ready;

void run_ready() {
    if (ready.running) {
        return;
    }
    ready.running = true;
    while (!ready.handles.empty()) {
        const std::coroutine_handle<> next = ready.handles.front();
        ready.handles.pop_front();
        next.resume();
    }
    ready.running = false;
}

} // namespace

void schedule(std::coroutine_handle<> handle) {
    ready.handles.push_back(handle);
    run_ready();
}

Event::~Event() {
    while (first_ != nullptr) {
        first_->cancelled_ = true;
        ready.handles.push_back(first_->unlink());
    }
    run_ready();
}

void Event::set() {
    is_set_ = true;
    while (first_ != nullptr) {
        ready.handles.push_back(first_->unlink());
    }
    run_ready(); // A resumed waiter may destroy this Event: none of its members is used afterwards.
}

bool Event::Wait::suspend(std::coroutine_handle<> handle, CancelState* cancel) {
    if (cancel != nullptr && cancel->cancelled()) {
        cancelled_ = true;
        return false;
    }
    if (event_->is_set_) {
        return false;
    }
    handle_ = handle;
    cancel_ = cancel;
    if (cancel_ != nullptr) {
        cancel_->set_waiting(this);
    }
    previous_ = event_->last_;
    if (previous_ != nullptr) {
        previous_->next_ = this;
    } else {
        event_->first_ = this;
    }
    event_->last_ = this;
    return true;
}

void Event::Wait::await_resume() const {
    if (cancelled_) {
        throw Cancelled();
    }
}

void Event::Wait::on_cancel() {
    cancelled_ = true;
    schedule(unlink());
}

std::coroutine_handle<> Event::Wait::unlink() {
    if (cancel_ != nullptr) {
        cancel_->set_waiting(nullptr);
    }
    (previous_ != nullptr ? previous_->next_ : event_->first_) = next_;
    (next_ != nullptr ? next_->previous_ : event_->last_) = previous_;
    return handle_;
}

struct TaskScope::Members {
    OnError on_error;
    std::unordered_set<std::shared_ptr<CancelState>> tasks;
    Event idle;
};

struct TaskScope::Root {
    struct promise_type {
        CancelState* cancel = nullptr;
        Root get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::abort(); }
    };
    std::coroutine_handle<promise_type> handle;
};

TaskScope::TaskScope(OnError on_error) : members_(std::make_unique<Members>()) {
    members_->on_error = std::move(on_error);
    members_->idle.set();
}

TaskScope::~TaskScope() {
    if (!members_->tasks.empty()) {
        std::fputs("cellgate: a TaskScope was destroyed while its tasks run; this is a bug\n", stderr);
        std::abort();
    }
}

TaskScope::Root TaskScope::run(TaskScope* scope, Task<void> task, std::shared_ptr<CancelState> cancel) {
    {
        // The task's frame is destroyed before the scope is notified: its locals may refer to the scope's owner.
        Task<void> owned = std::move(task);
        try {
            co_await std::move(owned);
        } catch (const Cancelled&) {
            // A task of a scope may end by cancellation.
        } catch (const Error& error) {
            if (scope->members_->on_error) {
                scope->members_->on_error(std::current_exception());
            } else {
                log_error("a background task failed: {}", error.message);
            }
        } catch (const std::exception& error) {
            if (scope->members_->on_error) {
                scope->members_->on_error(std::current_exception());
            } else {
                log_error("a background task failed: {}", error.what());
            }
        }
    }
    scope->finished(cancel);
}

std::shared_ptr<CancelState> TaskScope::spawn(Task<void> task) {
    auto cancel = std::make_shared<CancelState>();
    members_->tasks.insert(cancel);
    members_->idle.reset();
    Root root = run(this, std::move(task), cancel);
    root.handle.promise().cancel = cancel.get();
    schedule(root.handle);
    return cancel;
}

void TaskScope::cancel() {
    const std::vector<std::shared_ptr<CancelState>> now(members_->tasks.begin(), members_->tasks.end());
    for (const std::shared_ptr<CancelState>& task : now) {
        task->cancel();
    }
}

Task<void> TaskScope::join() {
    while (!members_->tasks.empty()) {
        co_await members_->idle.wait();
    }
}

std::size_t TaskScope::running() const {
    return members_->tasks.size();
}

void TaskScope::finished(const std::shared_ptr<CancelState>& cancel) {
    members_->tasks.erase(cancel);
    if (members_->tasks.empty()) {
        members_->idle.set();
    }
}

} // namespace cellgate
