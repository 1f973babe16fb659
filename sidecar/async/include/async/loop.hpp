#pragma once
// The event loop of the process: libuv, on one thread. The only room with callbacks is this one; everybody else awaits.
// One Loop per process, on the main thread (parent-death signals belong to the thread that started a child). What is
// made with a Loop must end before it does.

#include "base/clock.hpp"
#include "base/task.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>

struct uv_loop_s;

namespace cellgate::async {

class Loop {
  public:
    Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    ~Loop();

    // Runs `main` to its end and until every handle has closed. Rethrows what `main` threw. Aborts when `main` waits
    // for something that nothing on the loop can bring about.
    void run(Task<void> main);

    Clock& clock();
    // Lets the loop take one turn: for long work that must not starve others.
    Task<void> yield();
    // Runs `work` on another thread: for what may block (hashing much, SQLite, large files). Not cancellable. Rethrows
    // what it threw.
    template <class Work>
    Task<std::invoke_result_t<Work>> off_loop(Work work);

    uv_loop_s* raw();

  private:
    Task<void> run_off_loop(std::function<void()> work);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

template <class Work>
Task<std::invoke_result_t<Work>> Loop::off_loop(Work work) {
    using Result = std::invoke_result_t<Work>;
    std::function<void()> job;
    if constexpr (std::is_void_v<Result>) {
        job = [&work] { work(); };
        co_await run_off_loop(std::move(job));
    } else {
        std::optional<Result> result;
        job = [&result, &work] { result.emplace(work()); };
        co_await run_off_loop(std::move(job));
        co_return std::move(*result);
    }
}

} // namespace cellgate::async
