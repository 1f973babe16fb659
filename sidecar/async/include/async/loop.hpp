#pragma once
// `Loop` is the event loop of the process: libuv, on one thread. Only this module has callbacks; all other modules use
// coroutines. There is one Loop per process, on the main thread (parent-death signals belong to the thread that started
// a child). Everything made with a Loop must be destroyed before it.

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
    // Lets the loop run one iteration: for long work that must not starve others.
    Task<void> yield();
    // Runs `work` on the thread pool: for work that may block (hashing, SQLite, large files). Not cancellable. Rethrows
    // what `work` throws.
    template <class Work>
    Task<std::invoke_result_t<Work>> run_blocking(Work work);

    uv_loop_s* raw();

  private:
    Task<void> run_blocking_job(std::function<void()> work);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

template <class Work>
Task<std::invoke_result_t<Work>> Loop::run_blocking(Work work) {
    using Result = std::invoke_result_t<Work>;
    std::function<void()> job;
    if constexpr (std::is_void_v<Result>) {
        job = [&work] { work(); };
        co_await run_blocking_job(std::move(job));
    } else {
        std::optional<Result> result;
        job = [&result, &work] { result.emplace(work()); };
        co_await run_blocking_job(std::move(job));
        co_return std::move(*result);
    }
}

} // namespace cellgate::async
