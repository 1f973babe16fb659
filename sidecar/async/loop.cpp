#include "async/loop.hpp"

#include "base/error.hpp"
#include "loop_clock.hpp"
#include "uv_handle.hpp"

#include <uv.h>

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <signal.h>
#include <string>
#include <unistd.h>

namespace cellgate::async {

namespace {

[[noreturn]] void abort_with(const char* message) {
    std::fputs(message, stderr);
    std::abort();
}

// A new descriptor must never become stdin, stdout or stderr of this process.
void require_stdio() {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (::fcntl(fd, F_GETFD) == -1 && ::open("/dev/null", O_RDWR) != fd) {
            throw system_error(ErrorCode::internal_error, "cannot open /dev/null", errno);
        }
    }
}

struct Outcome {
    bool ended = false;
    std::exception_ptr error;
};

Task<void> run_to_end(Task<void> main, Outcome* outcome) {
    try {
        co_await std::move(main);
    } catch (...) {
        outcome->error = std::current_exception();
    }
    outcome->ended = true;
}

struct Work {
    uv_work_t request{};
    std::function<void()> run;
    std::exception_ptr error;
    Event done;
};

Task<void> wait_for(std::shared_ptr<Work> work) {
    co_await work->done.wait();
}

} // namespace

struct Loop::Impl {
    uv_loop_t loop{};
    uv_idle_t turn{};
    std::shared_ptr<Event> next_turn = std::make_shared<Event>();
    LoopClock clock{&loop};
};

Loop::Loop() : impl_(std::make_unique<Impl>()) {
    require_stdio();
    // A peer that has gone is an error of the write, not the end of this process.
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGXFSZ, SIG_IGN); // a file at its limit is an error like a full disk
    if (const int status = uv_loop_init(&impl_->loop); status != 0) {
        throw uv_error("cannot make an event loop", status);
    }
    uv_idle_init(&impl_->loop, &impl_->turn);
    impl_->turn.data = impl_.get();
}

Loop::~Loop() {
    uv_close(reinterpret_cast<uv_handle_t*>(&impl_->turn), nullptr);
    uv_run(&impl_->loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&impl_->loop) != 0) {
        abort_with("cellgate: something outlives the event loop that it was made with; this is a bug\n");
    }
}

void Loop::run(Task<void> main) {
    Outcome outcome;
    {
        TaskScope scope;
        scope.spawn(run_to_end(std::move(main), &outcome));
        uv_run(&impl_->loop, UV_RUN_DEFAULT);
        if (!outcome.ended) {
            abort_with("cellgate: the main task waits for something that cannot happen any more; this is a bug\n");
        }
    }
    if (outcome.error) {
        std::rethrow_exception(outcome.error);
    }
}

Clock& Loop::clock() {
    return impl_->clock;
}

uv_loop_s* Loop::raw() {
    return &impl_->loop;
}

Task<void> Loop::yield() {
    const std::shared_ptr<Event> turn = impl_->next_turn;
    uv_idle_start(&impl_->turn, [](uv_idle_t* handle) {
        auto* impl = static_cast<Impl*>(handle->data);
        uv_idle_stop(handle);
        std::exchange(impl->next_turn, std::make_shared<Event>())->set();
    });
    co_await turn->wait();
}

Task<void> Loop::run_blocking_job(std::function<void()> work) {
    auto job = std::make_shared<Work>();
    job->run = std::move(work);
    job->request.data = new std::shared_ptr<Work>(job);
    const int status = uv_queue_work(
        &impl_->loop, &job->request,
        [](uv_work_t* request) {
            const std::shared_ptr<Work>& self = *static_cast<std::shared_ptr<Work>*>(request->data);
            try {
                self->run();
            } catch (...) {
                self->error = std::current_exception();
            }
        },
        [](uv_work_t* request, int) {
            const std::unique_ptr<std::shared_ptr<Work>> self(static_cast<std::shared_ptr<Work>*>(request->data));
            (*self)->done.set();
        });
    if (status != 0) {
        delete static_cast<std::shared_ptr<Work>*>(job->request.data);
        throw uv_error("cannot start work on the thread pool", status);
    }
    // The work uses objects of its caller, so the caller waits even when cancelled.
    co_await shielded(wait_for(job));
    if (job->error) {
        std::rethrow_exception(job->error);
    }
}

} // namespace cellgate::async
